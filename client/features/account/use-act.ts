import { useState } from "react";
import { useRefusal } from "#client/components/use-refusal.tsx";

/** Runs one act at a time, and shows why it was refused. `busy` is the name of the one that runs. */
export function useAct<Name extends string>() {
  const refusal = useRefusal();
  const [busy, setBusy] = useState<Name>();
  async function run(name: Name, act: () => Promise<void>): Promise<void> {
    if (busy !== undefined || refusal.waitSeconds > 0) return;
    refusal.clear();
    setBusy(name);
    await act().catch((error: unknown) => refusal.refuse(error));
    setBusy(undefined);
  }
  return { ...refusal, busy, run };
}
