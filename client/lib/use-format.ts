import { useTranslation } from "react-i18next";
import type { TimeLeft } from "#domain/subscription.ts";
import { formatDate, formatDateTime, formatList, formatMoney, formatNumber, formatPercent, formatRelative } from "./format.ts";

/** The formatters in the reader's language, and the two phrases that stand everywhere: credits and time left. */
export function useFormat() {
  const { t, i18n } = useTranslation("common");
  const language = i18n.language;
  return {
    money: (cents: number) => formatMoney(cents, language),
    number: (value: number) => formatNumber(value, language),
    percent: (percent: number) => formatPercent(percent, language),
    date: (timestamp: string | Date) => formatDate(timestamp, language),
    dateTime: (timestamp: string | Date) => formatDateTime(timestamp, language),
    list: (items: readonly string[]) => formatList(items, language),
    relative: (timestamp: string | Date, now: Date) => formatRelative(timestamp, now, language),
    /** "5 credits", in the plural the language asks for. */
    credits: (credits: number) => t("credits", { count: credits, formatted: formatNumber(credits, language) }),
    timeLeft: (left: TimeLeft) => timeLeftText(left),
  };

  function timeLeftText(left: TimeLeft): string {
    switch (left.kind) {
      case "months": {
        const months = t("timeLeft.months", { count: left.months });
        return left.days === 0 ? months : formatList([months, t("timeLeft.days", { count: left.days })], language);
      }
      case "days":
        return t("timeLeft.days", { count: left.days });
      case "hours":
        return t("timeLeft.hours", { count: left.hours });
      case "minutes":
        return t("timeLeft.minutes", { count: left.minutes });
      default:
        return t(`timeLeft.${left.kind}`);
    }
  }
}
