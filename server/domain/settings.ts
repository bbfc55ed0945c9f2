/**
 * What an admin may change while the product runs, each within its limits (decision 89). What public texts promise is not a setting: prices,
 * credits and periods. Client and server check values with the same functions.
 */
import { adjustments } from "./adjustments.ts";
import { dayMs } from "./clock.ts";
import type { LanguageCode } from "./languages.ts";
import { fallbackLanguage, languages, matchLanguage } from "./languages.ts";

export const noticeTones = ["info", "warning", "danger"] as const;
export const noticeBounds = { textCharacters: 300, days: 30 } as const;

/** What every page says above its content for a while. */
export interface Notice {
  tone: (typeof noticeTones)[number];
  /** People whose language has no text get the English one. */
  texts: Partial<Record<LanguageCode, string>>;
  /** RFC 3339, business time. */
  until: string;
}

/** A part of the product that admins can close; open by default. */
const open = { kind: "switch", default: true } as const;

export const settings = {
  notice: { kind: "notice" },
  signUps: open,
  trials: open,
  purchases: open,
  answers: open,
  /** From one network, to one process or, with Redis, to all processes together. */
  requestsPerMinute: { kind: "amount", default: 600, lowest: 120, highest: 6_000 },
  /** Mails that anybody can cause by typing an address, for all networks together. */
  mailsPerMinute: { kind: "amount", default: 120, lowest: 30, highest: 3_000 },
  /** Credits that one admin may give within 24 hours. The highest is low enough that a stolen session does limited harm. */
  creditsPerDay: { kind: "amount", default: adjustments.mostADay, lowest: 0, highest: 50_000 },
  /** The default is LOG_LEVEL. */
  logLevel: { kind: "choice", choices: ["error", "warn", "info"] },
} as const satisfies Record<
  string,
  | typeof open
  | { kind: "amount"; default: number; lowest: number; highest: number }
  | { kind: "choice"; choices: readonly string[] }
  | { kind: "notice" }
>;

export type SettingName = keyof typeof settings;
export const settingNames = Object.keys(settings) as SettingName[];
export type SettingKind = (typeof settings)[SettingName]["kind"];

export interface KindValues {
  switch: boolean;
  amount: number;
  choice: string;
  /** Null: there is no notice. */
  notice: Notice | null;
}
export type SettingValue = KindValues[SettingKind];
export type SettingValues = { -readonly [Name in SettingName]: KindValues[(typeof settings)[Name]["kind"]] };

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settings, name);
}

export function defaultsOf({ logLevel }: { logLevel: string }): SettingValues {
  const values = settingNames.map((name) => {
    const setting = settings[name];
    return [name, setting.kind === "notice" ? null : setting.kind === "choice" ? logLevel : setting.default];
  });
  return Object.fromEntries(values) as SettingValues;
}

function isNoticeText(text: unknown): text is string {
  return typeof text === "string" && text.trim() !== "" && text.length <= noticeBounds.textCharacters;
}

function isNotice(value: unknown): value is Notice {
  if (typeof value !== "object" || value === null) return false;
  const { tone, texts, until } = value as { tone?: unknown; texts?: unknown; until?: unknown };
  if (!noticeTones.some((known) => known === tone)) return false;
  if (typeof until !== "string" || Number.isNaN(Date.parse(until))) return false;
  if (typeof texts !== "object" || texts === null || !Object.hasOwn(texts, fallbackLanguage)) return false;
  return Object.entries(texts).every(([language, text]) => languages.some(({ code }) => code === language) && isNoticeText(text));
}

/** Whether the setting may have this value in this release. */
export function isWithinLimits(name: SettingName, value: unknown): boolean {
  const setting = settings[name];
  if (setting.kind === "switch") return typeof value === "boolean";
  if (setting.kind === "choice") return setting.choices.some((choice) => choice === value);
  if (setting.kind === "notice") return isNotice(value);
  return typeof value === "number" && Number.isInteger(value) && value >= setting.lowest && value <= setting.highest;
}

/** The text for somebody who reads this language, and the language that it is in. */
export function noticeTextFor({ texts }: Pick<Notice, "texts">, tag: string): { language: LanguageCode; text: string } {
  const language = matchLanguage(tag) ?? fallbackLanguage;
  const text = texts[language];
  return text === undefined ? { language: fallbackLanguage, text: texts[fallbackLanguage] ?? "" } : { language, text };
}

/** Whether a new notice ends after now and within the longest time allowed. */
export function endsInTime({ until }: Pick<Notice, "until">, now: Date): boolean {
  const leftMs = Date.parse(until) - now.getTime();
  return leftMs > 0 && leftMs <= noticeBounds.days * dayMs;
}
