import type { Model, ModelCategory } from "#domain/models.ts";
import { models } from "#domain/models.ts";
import type { Plan } from "#domain/plans.ts";
import { planList } from "#domain/plans.ts";

/** What has an answer of its own; a question that fits one of these means no plan and no model in general. */
export const particularTopics = [
  "trial",
  "refund",
  "payment",
  "rollover",
  "cancel",
  "change",
  "annual",
  "late",
  "enough",
  "packs",
  "failure",
  "files",
  "languages",
  "human",
] as const;
/** What is asked about the whole price list. */
export const generalTopics = ["plans", "models", "credits", "hello"] as const;

export type TopicKey = (typeof particularTopics)[number] | (typeof generalTopics)[number];

export type Topic =
  | { kind: "topic"; key: TopicKey }
  | { kind: "plan"; plan: Plan }
  | { kind: "model"; model: Model }
  | { kind: "category"; category: ModelCategory }
  | { kind: "unknown"; question: string };

/** Kinds of model that a question names; words about text name no kind. */
const namedCategories = ["image", "audio", "video", "search"] as const satisfies readonly ModelCategory[];

/** The words that point at a topic or a kind of model, separated by commas, in the reader's language. */
export type KeywordsOf = (name: TopicKey | (typeof namedCategories)[number]) => string;

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Lower case without accents, words apart by one space and one at either end. */
function plain(text: string): string {
  // The Polish ł is a letter of its own to Unicode, but people leave its stroke out like an accent.
  const bare = text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").replaceAll("ł", "l");
  return ` ${bare
    .normalize("NFKC")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()} `;
}

/** How much of the question the keywords account for: each is the beginning of a word, anywhere where words aren't spaced. */
function weight(question: string, keywords: string): number {
  return keywords
    .split(",")
    .map((keyword) => plain(keyword).trimEnd())
    .filter((keyword) => keyword !== "" && question.includes(unspaced.test(keyword) ? keyword.trimStart() : keyword))
    .reduce((sum, keyword) => sum + keyword.trim().length * (unspaced.test(keyword) ? 3 : 1), 0);
}

function heaviest<Name extends string>(question: string, names: readonly Name[], keywordsOf: (name: Name) => string): Name | undefined {
  const weighed = names.map((name) => ({ name, weight: weight(question, keywordsOf(name)) }));
  return weighed.reduce((best, one) => (one.weight > best.weight ? one : best), { name: undefined as Name | undefined, weight: 0 }).name;
}

const compact = (text: string) => plain(text).replaceAll(" ", "");

/** People leave version numbers out: "Claude Sonnet" is the one there is. Shorter names than four letters name too much. */
function namesOf(model: Model): string[] {
  const withoutVersion = compact(model.name.replace(/[\s-][\d.]+$/, ""));
  return [compact(model.name), compact(model.id), ...(withoutVersion.length >= 4 ? [withoutVersion] : [])];
}

/** The model with the longest name in the question: "GPT-5 Mini" is not "GPT-5". */
function modelIn(question: string): Model | undefined {
  const joined = compact(question);
  let found: { model: Model; length: number } | undefined;
  for (const model of models) {
    for (const name of namesOf(model)) {
      if (joined.includes(name) && name.length > (found?.length ?? 0)) found = { model, length: name.length };
    }
  }
  return found?.model;
}

/** What a question is about. From the particular to the general, since a plan's name stands in many questions. */
export function topicOf(question: string, keywordsOf: KeywordsOf): Topic {
  const text = plain(question);
  const particular = heaviest(text, particularTopics, keywordsOf);
  if (particular) return { kind: "topic", key: particular };
  const model = modelIn(question);
  if (model) return { kind: "model", model };
  const plan = planList.find(({ name }) => text.includes(plain(name).trimEnd()));
  if (plan) return { kind: "plan", plan };
  const category = heaviest(text, namedCategories, keywordsOf);
  if (category) return { kind: "category", category };
  const general = heaviest(text, generalTopics, keywordsOf);
  return general ? { kind: "topic", key: general } : { kind: "unknown", question };
}
