import { useTranslation } from "react-i18next";
import { knownModel } from "#client/lib/known-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import { useWords } from "./use-words.ts";

type Details = Readonly<Record<string, unknown>>;

/**
 * The details of an act on the audit log, names and values in words. What this page has no word for stays as it is: an id, or what a newer server
 * writes.
 */
export function useDetails(): (details: Details) => { label: string; value: string }[] {
  const { t, i18n } = useTranslation(["words", "admin", "inbox", "settings"]);
  const words = useWords();
  const { money, number, percent, planName, list } = useFormat();
  const { date } = useUtc();
  const wordOf = (namespace: "words" | "inbox" | "settings" | "admin", key: string, code: string) =>
    i18n.exists(key, { ns: namespace }) ? t(`${namespace}:${key}` as "words:details.names.by") : code;

  /** By the detail's name, for those whose values are no plain words. */
  const special: Readonly<Record<string, (code: string) => string>> = {
    template: words.mail,
    job: words.job,
    kind: (code) => wordOf("words", `findings.${code}.what`, code),
    setting: (code) => wordOf("settings", `names.${code}`, code),
    status: (code) => wordOf("inbox", `statuses.${code}`, code),
    role: (code) => wordOf("admin", `role.${code}`, code),
    model: (code) => knownModel(code)?.name ?? code,
    beginsOn: date,
    until: date,
    list: (code) => wordOf("admin", `needs.${code}`, code),
  };

  function wordsFor(name: string, value: unknown): string {
    if (name === "plans" && Array.isArray(value)) return list(value.map((key) => planName(key as Parameters<typeof planName>[0])));
    if (typeof value === "number") return name.endsWith("Cents") ? money(value) : name === "percent" ? percent(value) : number(value);
    if (typeof value === "string") return special[name]?.(value) ?? wordOf("words", `details.values.${value}`, value);
    if (value === null) return t("words:details.values.null");
    if (typeof value === "boolean") return t(value ? "admin:person.yes" : "admin:person.no");
    return JSON.stringify(value);
  }

  return (details) =>
    Object.entries(details).map(([name, value]) => ({
      label: wordOf("words", `details.names.${name}`, name),
      value: wordsFor(name, value),
    }));
}
