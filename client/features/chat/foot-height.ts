/**
 * Gives the page `--foot-height`: how far the foot of the chat (the composer, and above it why a send was refused) reaches
 * up from the foot of the window, for what floats there. A ref; what it returns takes the property back.
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
