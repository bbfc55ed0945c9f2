/**
 * Measures the chat's lower part (the composer, and a refusal above it) from the window's lower edge: `--foot-height` is where it begins,
 * `--price-end` where its last line ends. Floating parts use these to stand above it or beside its last line without covering anything.
 * Used as a ref; the returned function removes the properties.
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
