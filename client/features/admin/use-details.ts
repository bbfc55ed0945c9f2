import { useTranslation } from "react-i18next";
import { knownModel } from "#client/lib/known-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import { useWords } from "./use-words.ts";

type Details = Readonly<Record<string, unknown>>;

/** What the lists and their filters are called where they are shown. */
const lists: Readonly<Record<string, string>> = {
  audit: "admin:sections.audit",
  campaigns: "admin:sections.campaigns",
  events: "admin:work.events",
  figures: "admin:sections.overview",
  inbox: "admin:sections.inbox",
  jobs: "admin:work.jobs",
  mails: "admin:work.mails",
  models: "admin:sections.models",
  people: "admin:sections.people",
  "person-answers": "admin:person.tabs.answers",
  "person-credits": "admin:person.tabs.ledger",
  "person-invoices": "invoices:title",
  "person-mails": "admin:person.tabs.mails",
  "refused-mails": "admin:needs.refusedMails",
  team: "admin:sections.team",
  "waiting-jobs": "admin:work.waitingJobs",
};
const filters: Readonly<Record<string, string>> = {
  about: "admin:audit.about",
  action: "admin:audit.action",
  by: "admin:audit.by",
  category: "inbox:kind",
  customer: "admin:work.customer",
  direction: "usage:filters.direction",
  event: "admin:people.id",
  filterReason: "outcomes:filter",
  from: "admin:work.from",
  job: "admin:work.job",
  kind: "usage:filters.kind",
  language: "inbox:language",
  object: "admin:work.object",
  owner: "inbox:owner",
  provider: "admin:models.provider",
  range: "usage:charts.range",
  recipient: "admin:work.recipient",
  role: "admin:team.role",
  search: "admin:table.search",
  sender: "inbox:sender",
  state: "admin:people.state",
  status: "admin:people.state",
  template: "admin:person.template",
  to: "admin:work.to",
  type: "admin:work.type",
};

/**
 * The details of an act in the audit log, names and values in words. What this page has no word for stays as it is: an id, or a name from
 * a newer server.
 */
export function useDetails(): (details: Details) => { label: string; value: string }[] {
  const { t, i18n } = useTranslation(["words", "admin", "inbox", "settings"]);
  const words = useWords();
  const { money, number, percent, planName, list } = useFormat();
  const { date } = useUtc();
  const wordOf = (namespace: "words" | "inbox" | "settings" | "admin", key: string, code: string) =>
    i18n.exists(key, { ns: namespace }) ? t(`${namespace}:${key}` as "words:details.names.by") : code;
  const labelOf = (key: string | undefined, code: string) =>
    key !== undefined && i18n.exists(key) ? t(key as "words:details.names.by") : code;

  /** How to write the values of certain details, by the detail's name. */
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
    if (name === "filters" && Array.isArray(value)) return list(value.map((filter) => labelOf(filters[String(filter)], String(filter))));
    if (typeof value === "number") return name.endsWith("Cents") ? money(value) : name === "percent" ? percent(value) : number(value);
    if (typeof value === "string") return special[name]?.(value) ?? wordOf("words", `details.values.${value}`, value);
    if (value === null) return t("words:details.values.null");
    if (typeof value === "boolean") return t(value ? "admin:person.yes" : "admin:person.no");
    return JSON.stringify(value);
  }

  /** `list` names a list of waiting things if something was put off (then there is an `entry`), and a downloaded table otherwise. */
  const isDownload = (details: Details) => details.list !== undefined && details.entry === undefined;
  return (details) =>
    Object.entries(details).map(([name, value]) => ({
      label: wordOf("words", `details.names.${name}`, name),
      value: name === "list" && isDownload(details) ? labelOf(lists[String(value)], String(value)) : wordsFor(name, value),
    }));
}
