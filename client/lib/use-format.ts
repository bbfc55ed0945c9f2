import { useTranslation } from "react-i18next";
import type { Model } from "#domain/models.ts";
import { plans } from "#domain/plans.ts";
import type { SubscriptionTier, TimeLeft } from "#domain/subscription.ts";
import { charactersPerUnit } from "#domain/units.ts";
import {
  formatDate,
  formatDateTime,
  formatDuration,
  formatList,
  formatMoney,
  formatNumber,
  formatPercent,
  formatRelative,
  formatSeconds,
  formatTime,
} from "./format.ts";

type PricedModel = Pick<Model, "credits" | "unit">;

/** The formatters in the reader's language, and the phrases used everywhere: credits, a model's price, a plan's name, time left. */
export function useFormat() {
  const { t, i18n } = useTranslation("common");
  const language = i18n.language;
  return {
    money: (cents: number) => formatMoney(cents, language),
    number: (value: number) => formatNumber(value, language),
    percent: (percent: number) => formatPercent(percent, language),
    seconds: (seconds: number) => formatSeconds(seconds, language),
    date: (timestamp: string | Date) => formatDate(timestamp, language),
    dateTime: (timestamp: string | Date) => formatDateTime(timestamp, language),
    time: (timestamp: string | Date) => formatTime(timestamp, language),
    list: (items: readonly string[]) => formatList(items, language),
    relative: (timestamp: string | Date, now: Date) => formatRelative(timestamp, now, language),
    credits,
    modelPrice,
    /** "GPT-5, 5 credits per answer". */
    namedPrice: (model: PricedModel & Pick<Model, "name">) => t("model.named", { name: model.name, price: modelPrice(model) }),
    /** "Starter Plan", or "No Plan": the display names of spec §4. */
    planName: (tier: SubscriptionTier) => (tier === "none" ? t("plan.none") : t("plan.name", { plan: plans[tier].name })),
    /** "14 days". */
    days,
    timeLeft: (left: TimeLeft) => timeLeftText(left),
  };

  /** "5 credits", in the right plural form of the language. */
  function credits(credits: number): string {
    return t("credits", { count: credits, formatted: formatNumber(credits, language) });
  }

  /** "5 credits per answer", as every screen writes a model's price. */
  function modelPrice(model: PricedModel): string {
    return t(`model.price.${model.unit}`, { credits: credits(model.credits), characters: formatNumber(charactersPerUnit, language) });
  }

  function timeLeftText(left: TimeLeft): string {
    if (!("count" in left)) return t(`timeLeft.${left.kind}`);
    // Intl names its units in the singular.
    const text = formatDuration(left.count, left.kind.slice(0, -1), language);
    return left.kind === "months" && left.days > 0 ? formatList([text, days(left.days)], language) : text;
  }

  function days(count: number): string {
    return formatDuration(count, "day", language);
  }
}
