import { useTranslation } from "react-i18next";
import { Counted } from "#client/features/marketing/counted.tsx";
import { PlanFinder } from "#client/features/marketing/plan-finder.tsx";
import { WorkedExample } from "#client/features/marketing/worked-example.tsx";
import type { Turn } from "#client/features/support-widget/conversation-store.ts";
import { TurnView } from "#client/features/support-widget/turn-view.tsx";
import { plans } from "#domain/plans.ts";

const turns: readonly Turn[] = [
  { id: 1, from: "support", topic: { kind: "plan", plan: plans.basic } },
  { id: 2, from: "support", topic: { kind: "topic", key: "models" } },
  { id: 3, from: "support", topic: { kind: "unknown", question: "" } },
  { id: 4, from: "support", topic: "failed" },
];

/** The parts that visitors see, for the design page. It is a page file because it composes several features. */
export function VisitorSpecimens() {
  const { t } = useTranslation(["design", "about", "home", "pricing", "support"]);
  return (
    <>
      <PlanFinder />
      <WorkedExample />
      <Counted />
      <h3>{t("answers")}</h3>
      {turns.map((turn) => (
        <TurnView key={turn.id} turn={turn} onFollow={() => undefined} />
      ))}
    </>
  );
}
