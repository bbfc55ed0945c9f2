import { useTranslation } from "react-i18next";
import { filterReasons } from "#domain/filter-reasons.ts";

/** What a provider's filter stopped, in words. A reason that this client does not know is called another one. */
export function useFilterWord(): (reason: string) => string {
  const { t } = useTranslation("outcomes");
  return (reason) => t(`reason.${filterReasons.find((known) => known === reason) ?? "other"}`);
}
