/** What the team's answer may begin with, in the language of the person who wrote. A team member reads and changes it before it is sent. */
import type { AnswerTemplate } from "#domain/inbox.ts";
import { answerTemplates } from "#domain/inbox.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, matchLanguage } from "#domain/languages.ts";
import type { Config } from "../../config.ts";
import type { InboxPage } from "../../contract/admin/inbox.ts";
import de from "./locales/de.json" with { type: "json" };
import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import fr from "./locales/fr.json" with { type: "json" };
import it from "./locales/it.json" with { type: "json" };
import ja from "./locales/ja.json" with { type: "json" };
import pl from "./locales/pl.json" with { type: "json" };
import pt from "./locales/pt.json" with { type: "json" };
import ro from "./locales/ro.json" with { type: "json" };
import ru from "./locales/ru.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

/** Every answer has `subject` and `greeting`; the others are its possible texts. */
type Texts = Record<AnswerTemplate | "subject" | "greeting", string>;
const texts: Record<LanguageCode, Texts> = { en, es, fr, de, zh, ja, pt, pl, ro, it, ru };

/** Fills all placeholders in one pass, so that a name that looks like a placeholder is not filled. */
function fill(text: string, places: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (place, name: string) => places[name] ?? place);
}

export function suggestAnswers(
  { publicUrl }: Pick<Config, "publicUrl">,
  language: string,
  { name, reference }: { name: string; reference: string },
): InboxPage["suggested"] {
  const own = texts[matchLanguage(language) ?? fallbackLanguage];
  const addressOf = (path: string) => new URL(path, publicUrl).href;
  const places = { name, reference, wallet: addressOf("/profile"), billing: addressOf("/profile/billing") };
  return {
    subject: fill(own.subject, places),
    templates: answerTemplates.map((template) => ({
      name: template,
      text: fill(`${own.greeting}\n\n${own[template]}`, places),
    })),
  };
}
