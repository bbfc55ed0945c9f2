import { useTranslation } from "react-i18next";
import type { LedgerLine } from "#contract/credits/ledger.ts";
import { monthsOfYear } from "#domain/plans.ts";
import { knownModel } from "./known-models.ts";
import { useFormat } from "./use-format.ts";

/** From when until when, in the calendar of the list: "Mar 10 – Apr 10, 2026". */
export type WriteRange = (from: string, until: string) => string;

interface Granted {
  kind: LedgerLine["grantKind"];
  grantFor: LedgerLine["grantFor"];
}

/** The words for the lines of the ledger and for grants, wherever they are listed. */
export function useLedgerWords(range: WriteRange) {
  const { t } = useTranslation(["billing", "wallet"]);
  const { credits, number, planName } = useFormat();
  return {
    /** "Answer by GPT-5", "Taken back after a refund". */
    what: ({ kind, modelId, reason }: Pick<LedgerLine, "kind" | "modelId" | "reason">): string => {
      if (modelId !== null) return t("billing:ledger.kind.captureModel", { model: knownModel(modelId)?.name ?? modelId });
      return reason && reason !== "other" ? t(`billing:ledger.reason.${reason}`) : t(`billing:ledger.kind.${kind}`);
    },
    /** "Starter Plan, monthly: Mar 10 – Apr 10, 2026", "Credit pack, 250 credits", "Free trial"; null if there is no grant. */
    grant: ({ kind, grantFor }: Granted): string | null => {
      if (!grantFor) return kind && t(`wallet:kind.${kind}`);
      if (grantFor.kind === "pack") return t("billing:ledger.for.pack", { credits: credits(grantFor.credits) });
      const { plan, interval, month, from, until } = grantFor;
      const sold = { plan: planName(plan), period: range(from, until) };
      if (month === null) return t(`billing:ledger.for.${interval}`, sold);
      return t("billing:ledger.for.monthOfYear", { ...sold, month: number(month), months: number(monthsOfYear) });
    },
    invoice: ({ id, number: written }: NonNullable<LedgerLine["invoice"]>): string =>
      t("billing:ledger.for.invoice", { number: written ?? id }),
  };
}
