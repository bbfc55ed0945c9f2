import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Setting } from "#contract/settings.ts";
import { noticeTextFor } from "#domain/settings.ts";

/** A setting's value in words. */
export function useSettingText(): (value: Setting["value"]) => string {
  const { t, i18n } = useTranslation("settings");
  const { number } = useFormat();
  const { dateTime } = useUtc();
  return (value) => {
    if (value === null) return t("notice.none");
    if (typeof value === "boolean") return t(value ? "state.open" : "state.closed");
    if (typeof value === "number") return number(value);
    if (typeof value === "string") return value;
    const { text } = noticeTextFor(value, i18n.language);
    return t(Date.parse(value.until) > Date.now() ? "notice.shown" : "notice.over", { text, time: dateTime(value.until) });
  };
}
