import type { ComponentType } from "react";
import { lazy, Suspense, useState } from "react";

/** A part with its own chunk. It renders together with its page if the page has waited for it. */
export interface PreparedPart {
  prepare: () => Promise<ComponentType>;
  /** The part if its chunk is loaded, otherwise a lazy component that waits for it. */
  current: () => ComponentType;
}

export function preparedPart(load: () => Promise<ComponentType>): PreparedPart {
  let loaded: ComponentType | undefined;
  const prepare = async () => {
    loaded ??= await load();
    return loaded;
  };
  const Later = lazy(async () => ({ default: await prepare() }));
  return { prepare, current: () => loaded ?? Later };
}

/** `roomClass` reserves the space while the part is loading. */
export function PartView({ part, roomClass }: { part: PreparedPart; roomClass: string | undefined }) {
  const [Part] = useState<ComponentType>(part.current);
  return (
    <Suspense fallback={<div className={roomClass} />}>
      <Part />
    </Suspense>
  );
}
