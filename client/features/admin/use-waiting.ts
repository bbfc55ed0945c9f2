import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import { useNeeds, waitingOf } from "./needs-store.ts";

/** How many things wait for the team: in figures, and in words. Undefined if nothing does, or nobody knows. */
export function useWaiting(): { short: string; words: string } | undefined {
  const { t } = useTranslation("admin");
  const { number } = useFormat();
  const waiting = waitingOf(useNeeds(({ needs }) => needs));
  if (waiting === undefined || waiting.count === 0) return undefined;
  const short = `${number(waiting.count)}${waiting.isMore ? "+" : ""}`;
  return { short, words: t("needs.waiting", { things: short }) };
}
