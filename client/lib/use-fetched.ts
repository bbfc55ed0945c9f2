import type { ComponentType } from "react";
import { useEffect, useState } from "react";

/** A component that is fetched once `wanted` is true. If that fails, the page works without it. */
export function useFetched<Props>(wanted: boolean, load: () => Promise<ComponentType<Props>>): ComponentType<Props> | null {
  const [Fetched, setFetched] = useState<ComponentType<Props> | null>(null);
  useEffect(() => {
    if (!wanted || Fetched) return;
    let current = true;
    load().then(
      (component) => current && setFetched(() => component),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [wanted, Fetched, load]);
  return wanted ? Fetched : null;
}
