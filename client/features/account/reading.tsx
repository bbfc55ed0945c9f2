import type { ReactNode } from "react";
import { LoadFailed } from "./load-failed.tsx";
import { RowsLoading } from "./rows-loading.tsx";
import type { Read } from "./use-read.ts";

interface ReadingProps<Value> extends Pick<Read<Value>, "state" | "look"> {
  /** What is read, for screen readers. */
  label: string;
  /** How many rows there will be, more or less. */
  rows: number;
  /** What to say when it could not be read. */
  failed: string;
  children: (value: Value, readAt: Date) => ReactNode;
}

/** What a panel shows of what it reads: its place while that is on the way, or that it failed. */
export function Reading<Value>({ state, look, label, rows, failed, children }: ReadingProps<Value>) {
  if (state.status === "loading") return <RowsLoading label={label} rows={rows} />;
  if (state.status === "failed") return <LoadFailed onRetry={() => void look()}>{failed}</LoadFailed>;
  return children(state.value, state.readAt);
}
