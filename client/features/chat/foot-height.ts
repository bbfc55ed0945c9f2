/**
 * Sets `--foot-height` on the page: the height of the chat's lower part (the composer, and a refusal above it) from the lower edge of the
 * window. Floating buttons need it. Used as a ref; the returned function removes the property.
 */
export function measureFoot(foot: HTMLElement | null): (() => void) | undefined {
  if (!foot) return undefined;
  const { style } = document.documentElement;
  const measure = () => style.setProperty("--foot-height", `${Math.ceil(innerHeight - foot.getBoundingClientRect().top)}px`);
  const observer = new ResizeObserver(measure);
  observer.observe(foot);
  observer.observe(document.documentElement);
  return () => {
    observer.disconnect();
    style.removeProperty("--foot-height");
  };
}
