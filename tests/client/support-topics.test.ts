import { describe, expect, it } from "vitest";
import type { KeywordsOf, Topic } from "#client/features/support-widget/topics.ts";
import { topicOf } from "#client/features/support-widget/topics.ts";
import { languages } from "#domain/languages.ts";
import { catalogue } from "#domain/models.ts";
import { planList } from "#domain/plans.ts";
import { read } from "#tests/support/sources.ts";

interface SupportTexts {
  keywords: Record<string, string>;
  [key: string]: { question?: string } | string | Record<string, string>;
}

function textsOf<Texts>(language: string, namespace: string): Texts {
  return JSON.parse(read(`client/i18n/locales/${language}/${namespace}.json`)) as Texts;
}

/** The keywords the widget uses: those of the reader's language and the English ones. */
function keywordsIn(language: string): KeywordsOf {
  const own = textsOf<SupportTexts>(language, "support").keywords;
  const english = textsOf<SupportTexts>("en", "support").keywords;
  return (name) => `${own[name]},${english[name]}`;
}

/** The answer's subject as one word. */
function about(topic: Topic): string {
  if (topic.kind === "topic") return topic.key;
  if (topic.kind === "plan") return topic.plan.key;
  return topic.kind === "model" ? topic.model.id : topic.kind === "category" ? topic.category : "unknown";
}

const codes = languages.map(({ code }) => code);

describe("a question to the support widget", () => {
  it.each(codes)("is understood in %s in the words that the pages use", (language) => {
    const keywords = keywordsIn(language);
    const support = textsOf<Record<string, { question: string }>>(language, "support");
    const { faq } = textsOf<{ faq: Record<string, { question: string }> }>(language, "pricing");
    const found: Record<string, string> = {};
    const wanted: Record<string, string> = {};
    for (const [key, source] of [
      ...["plans", "models", "trial", "failure", "files", "languages"].map((key) => [key, support[key]] as const),
      ...["rollover", "enough", "change", "cancel", "refund", "annual", "payment", "late"].map((key) => [key, faq[key]] as const),
    ]) {
      found[`${key}: ${source?.question}`] = about(topicOf(source?.question ?? "", keywords));
      wanted[`${key}: ${source?.question}`] = key;
    }
    expect(found).toEqual(wanted);
  });

  it.each(codes)("with a model's or plan's name in it is understood in %s", (language) => {
    const keywords = keywordsIn(language);
    for (const model of catalogue) {
      for (const name of [model.name, model.name.toLowerCase(), model.name.replaceAll(" ", ""), model.id]) {
        expect(about(topicOf(`${name}?`, keywords)), name).toBe(model.id);
      }
    }
    for (const plan of planList) expect(about(topicOf(`${plan.name}?`, keywords)), plan.name).toBe(plan.key);
  });

  it.each([
    ["how much is GPT 5 mini", "gpt-5-mini"],
    ["Sora price?", "sora-2"],
    ["can enterprise pay by bank transfer?", "payment"],
    ["REFUND!!", "refund"],
    ["I want my money back", "refund"],
    ["Does the trial need a credit card?", "trial"],
    ["max audio size for whisper", "whisper-1"],
    ["how big may an uploaded mp3 be", "files"],
    ["is there a picture model", "image"],
    ["talk to a human", "human"],
    ["hello", "hello"],
    ["what is a credit", "credits"],
  ])("reads %j as a question about %s", (question, topic) => {
    expect(about(topicOf(question, keywordsIn("en")))).toBe(topic);
  });

  it.each(["", "   ", "???", "\u202e", "🦊", "Is there a dog in here", "x".repeat(5_000)])("has no answer for %j", (question) => {
    expect(topicOf(question, keywordsIn("en"))).toEqual({ kind: "unknown", question });
  });
});
