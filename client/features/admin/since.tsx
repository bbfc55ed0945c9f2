import { createContext, useContext } from "react";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";

/** The server's time when the page was read: the sandbox's clock may be ahead of this device's. */
export const ReadAt = createContext<Date | undefined>(undefined);

/** How long ago it was, and below the pointer the exact time in UTC. */
export function Since({ at }: { at: string }) {
  const readAt = useContext(ReadAt);
  const { relative } = useFormat();
  const { dateTime } = useUtc();
  return (
    <time dateTime={at} title={`${dateTime(at)} UTC`}>
      {readAt ? relative(at, readAt) : dateTime(at)}
    </time>
  );
}
