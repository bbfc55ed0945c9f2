import { useSyncExternalStore } from "react";

/**
 * Code that only some answers need. It is loaded when the first of them is shown, and is available at once after that. If loading
 * fails, the next answer that needs it tries again.
 */
export function lateModule<Module>(load: () => Promise<Module>): (wanted: boolean) => Module | undefined {
  let module: Module | undefined;
  let fetching = false;
  const waiting = new Set<() => void>();

  const fetchModule = async () => {
    fetching = true;
    try {
      module = await load();
      for (const tell of waiting) tell();
    } catch {
      // The source is shown instead.
    } finally {
      fetching = false;
    }
  };
  const subscribe = (tell: () => void) => {
    waiting.add(tell);
    if (!module && !fetching) void fetchModule();
    return () => void waiting.delete(tell);
  };
  const stayAway = () => () => undefined;

  return (wanted) =>
    useSyncExternalStore(
      wanted ? subscribe : stayAway,
      () => (wanted ? module : undefined),
      () => (wanted ? module : undefined),
    );
}
