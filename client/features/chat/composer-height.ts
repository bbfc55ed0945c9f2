/**
 * Gives the page `--composer-height`: how far the composer reaches up from the foot of the window, for what floats there.
 * A ref; what it returns takes the property back.
 */
export function measureComposer(composer: HTMLElement | null): (() => void) | undefined {
  if (!composer) return undefined;
  const { style } = document.documentElement;
  const measure = () => style.setProperty("--composer-height", `${Math.ceil(innerHeight - composer.getBoundingClientRect().top)}px`);
  const observer = new ResizeObserver(measure);
  observer.observe(composer);
  observer.observe(document.documentElement);
  return () => {
    observer.disconnect();
    style.removeProperty("--composer-height");
  };
}
