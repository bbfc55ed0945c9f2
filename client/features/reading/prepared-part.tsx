import type { ComponentType } from "react";
import { lazy, Suspense, useState } from "react";

/** A chunk of its own, drawn in the same breath as its page where the page has waited for it. */
export interface PreparedPart {
  prepare: () => Promise<ComponentType>;
  /** The part where its chunk is here already, else what waits for it. */
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

/** `roomClass` keeps the room while the part is on its way. */
export function PartView({ part, roomClass }: { part: PreparedPart; roomClass: string | undefined }) {
  const [Part] = useState<ComponentType>(part.current);
  return (
    <Suspense fallback={<div className={roomClass} />}>
      <Part />
    </Suspense>
  );
}
