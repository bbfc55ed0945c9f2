import { ExplanationPanel } from "./explanation-panel.tsx";
import { HistoryPanel } from "./history-panel.tsx";
import { LimitsPanel } from "./limits-panel.tsx";
import { UsagePanel } from "./usage-panel.tsx";

/** History and usage: a section of the account, in a chunk of its own. */
export function UsageSection() {
  return (
    <>
      <ExplanationPanel />
      <UsagePanel />
      <LimitsPanel />
      <HistoryPanel />
    </>
  );
}
