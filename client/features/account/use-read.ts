import { useCallback, useState } from "react";
import { useSecurityReads } from "./security-news.ts";

export interface Read<Value> {
  state: { status: "loading" } | { status: "failed" } | { status: "known"; value: Value; readAt: Date };
  /** Reads again. Returns what it read; undefined if that failed. */
  look: () => Promise<Value | undefined>;
  /** Changes what is known, without reading it again. */
  change: (next: (known: Value) => Value) => void;
}

const latest = <Value>(_known: Value, read: Value) => read;

/**
 * What a panel of the account shows. It is read again after news (security-news.ts) and when the page comes back to the front; if that
 * fails, the panel still shows what it knew. `merge` adds what was read to what is known. `ask` and `merge` must stay the same functions.
 */
export function useRead<Value>(ask: () => Promise<Value>, merge: (known: Value, read: Value) => Value = latest): Read<Value> {
  const [state, setState] = useState<Read<Value>["state"]>({ status: "loading" });
  const look = useCallback(async () => {
    try {
      const value = await ask();
      setState((before) => ({
        status: "known",
        value: before.status === "known" ? merge(before.value, value) : value,
        readAt: new Date(),
      }));
      return value;
    } catch {
      setState((before) => (before.status === "known" ? before : { status: "failed" }));
      return undefined;
    }
  }, [ask, merge]);
  const change = useCallback(
    (next: (known: Value) => Value) =>
      setState((before) => (before.status === "known" ? { ...before, value: next(before.value) } : before)),
    [],
  );
  useSecurityReads(look);
  return { state, look, change };
}
