import type { Model, ModelCategory } from "#domain/models.ts";
import { catalogue } from "#domain/models.ts";
import type { Plan } from "#domain/plans.ts";
import { planList } from "#domain/plans.ts";

/** Specific topics. A question that matches one of them is not about plans or models in general. */
const particularTopics = [
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
/** Topics about the whole price list. */
const generalTopics = ["plans", "models", "credits", "hello"] as const;

export type TopicKey = (typeof particularTopics)[number] | (typeof generalTopics)[number];

export type Topic =
  | { kind: "topic"; key: TopicKey }
  | { kind: "plan"; plan: Plan }
  | { kind: "model"; model: Model }
  | { kind: "category"; category: ModelCategory }
  | { kind: "unknown"; question: string };

/** Kinds of model that a question can name. Words about text do not name a kind. */
const namedCategories = ["image", "audio", "video", "search"] as const satisfies readonly ModelCategory[];

/** The keywords of a topic or a kind of model, separated by commas, in the reader's language. */
export type KeywordsOf = (name: TopicKey | (typeof namedCategories)[number]) => string;

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Lower case without accents, with one space between the words and at either end. */
function plain(text: string): string {
  // Unicode treats the Polish ł as a separate letter, but people leave out its stroke like an accent.
  const bare = text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").replaceAll("ł", "l");
  return ` ${bare
    .normalize("NFKC")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()} `;
}

/** How much of the question the keywords cover. A keyword matches at the beginning of a word, or anywhere in languages without spaces. */
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

/** People leave out version numbers: "Claude Sonnet" means the one we have. Names shorter than four letters would match too much. */
function namesOf(model: Model): string[] {
  const withoutVersion = compact(model.name.replace(/[\s-][\d.]+$/, ""));
  return [compact(model.name), compact(model.id), ...(withoutVersion.length >= 4 ? [withoutVersion] : [])];
}

/** The model with the longest name in the question: "GPT-5 Mini" is not "GPT-5". */
function modelIn(question: string): Model | undefined {
  const joined = compact(question);
  let found: { model: Model; length: number } | undefined;
  for (const model of catalogue) {
    for (const name of namesOf(model)) {
      if (joined.includes(name) && name.length > (found?.length ?? 0)) found = { model, length: name.length };
    }
  }
  return found?.model;
}

/** Finds the topic of a question, from specific to general, because many questions contain a plan's name. */
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
