import { ExplanationPanel } from "./explanation-panel.tsx";
import { HistoryPanel } from "./history-panel.tsx";

/** History and usage: a section of the account, in a chunk of its own. */
export function UsageSection() {
  return (
    <>
      <ExplanationPanel />
      <HistoryPanel />
    </>
  );
}
