import { useTranslation } from "react-i18next";
import { kept } from "./format.ts";

const timeZone = "UTC";

/** Formatters for pages whose days are days in UTC, like those of the ledger. */
export function useUtc() {
  const { language } = useTranslation().i18n;
  const formatter = (name: string, options: Intl.DateTimeFormatOptions) =>
    kept(`utc ${name} ${language}`, () => new Intl.DateTimeFormat(language, { ...options, timeZone }));
  return {
    date: (timestamp: string) => formatter("date", { dateStyle: "long" }).format(new Date(timestamp)),
    dateTime: (timestamp: string) => formatter("moment", { dateStyle: "medium", timeStyle: "short" }).format(new Date(timestamp)),
    day: (timestamp: string) => formatter("day", { month: "long", day: "numeric" }).format(new Date(timestamp)),
    month: (timestamp: string) => formatter("month", { month: "long", year: "numeric" }).format(new Date(timestamp)),
    shortDay: (timestamp: string) => formatter("short day", { month: "short", day: "numeric" }).format(new Date(timestamp)),
    shortMonth: (timestamp: string) => formatter("short month", { month: "short" }).format(new Date(timestamp)),
    range: (from: string, until: string) => formatter("range", { dateStyle: "medium" }).formatRange(new Date(from), new Date(until)),
    time: (timestamp: string) => formatter("time", { timeStyle: "short" }).format(new Date(timestamp)),
  };
}
