/**
 * Sets on the page how far from the lower edge of the window the chat's lower part (the composer, and a refusal above it) begins,
 * `--foot-height`, and where its last line ends, `--price-end`: what floats stands above the one or in the other, and covers neither. Used as
 * a ref; the returned function removes the properties.
 */
export function measureFoot(foot: HTMLElement | null): (() => void) | undefined {
  if (!foot) return undefined;
  const { style } = document.documentElement;
  const price = foot.querySelector("#composer-price");
  const measure = () => {
    style.setProperty("--foot-height", `${Math.ceil(innerHeight - foot.getBoundingClientRect().top)}px`);
    if (price) style.setProperty("--price-end", `${Math.max(0, Math.ceil(innerHeight - price.getBoundingClientRect().bottom))}px`);
  };
  const observer = new ResizeObserver(measure);
  observer.observe(foot);
  observer.observe(document.documentElement);
  return () => {
    observer.disconnect();
    style.removeProperty("--foot-height");
    style.removeProperty("--price-end");
  };
}
