/** What only some answers have: why a filter stopped them or how else they failed, and how often their model searched. */
import { useTranslation } from "react-i18next";
import type outcomes from "#client/i18n/locales/en/outcomes.json";
import { useFilterWord } from "#client/lib/filter-words.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Receipt } from "#contract/generations/generations.ts";

export function Filtered({ reason }: { reason: string }) {
  const { t } = useTranslation("outcomes");
  const word = useFilterWord();
  return t("filtered", { reason: word(reason) });
}

export function RareFailure({ code }: { code: keyof typeof outcomes.failure }) {
  const { t } = useTranslation("outcomes");
  return t(`failure.${code}`);
}

/** Lines of a receipt. */
export function OutcomeLines({ receipt }: { receipt: Receipt }) {
  const { t } = useTranslation("outcomes");
  const { number } = useFormat();
  const word = useFilterWord();
  const { filterReason, searches } = receipt;
  return (
    <>
      {filterReason !== undefined && filterReason !== "unspecified" && (
        <div>
          <dt>{t("filter")}</dt>
          <dd>{word(filterReason)}</dd>
        </div>
      )}
      {searches !== undefined && searches > 0 && (
        <div>
          <dt>{t("searches")}</dt>
          <dd>{number(searches)}</dd>
        </div>
      )}
    </>
  );
}
