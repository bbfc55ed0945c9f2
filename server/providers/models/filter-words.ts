/**
 * The words in which providers say why their filters stop something, and our reasons for them (domain/filter-reasons.ts). Nothing of what a
 * provider sends leaves this file but one of our reasons: an unknown word is `other`, and no word is `unspecified`.
 */
import type { FilterReason } from "#domain/filter-reasons.ts";
import { filterReasons } from "#domain/filter-reasons.ts";
import type { EventData } from "./response-stream.ts";
import { fieldsOf, isFields, listOf } from "./response-stream.ts";

export type FilterWords = ReadonlyMap<string, FilterReason>;

/** The categories of OpenAI's moderation, which its pictures name too. What follows a slash only narrows them. */
const openAiWords: FilterWords = new Map([
  ["self_harm", "self_harm"],
  ["sexual", "sexual"],
  ["violence", "violence"],
  ["hate", "hate"],
  ["harassment", "harassment"],
  ["illicit", "dangerous"],
]);

/** Azure's filters, which other servers that speak OpenAI's protocols have taken over. */
const azureWords: FilterWords = new Map([
  ...openAiWords,
  ["jailbreak", "instructions"],
  ["indirect_attack", "instructions"],
  ["protected_material_text", "copyright"],
  ["protected_material_code", "copyright"],
  ["personally_identifiable_information", "personal_data"],
  ["custom_blocklists", "wording"],
  ["profanity", "wording"],
]);

/** Codes of the errors by which OpenAI refuses what is filtered. Those that name no category are `unspecified`. */
const openAiCodes: FilterWords = new Map([
  ["bio_policy", "bio"],
  ["cyber_policy", "cyber"],
  ["misalignment_policy_violation", "other"],
  ["content_filter", "unspecified"],
  ["content_policy_violation", "unspecified"],
  ["moderation_blocked", "unspecified"],
  ["image_content_policy_violation", "unspecified"],
]);

/** Google's reasons to finish. The others that are filters say nothing about what was filtered. */
const googleWords: FilterWords = new Map([
  ["safety", "unspecified"],
  ["image_safety", "unspecified"],
  ["prohibited_content", "unspecified"],
  ["image_prohibited_content", "unspecified"],
  ["recitation", "copyright"],
  ["image_recitation", "copyright"],
  ["blocklist", "wording"],
  ["spii", "personal_data"],
]);

export const anthropicWords: FilterWords = new Map([
  ["bio", "bio"],
  ["cyber", "cyber"],
  ["general_harms", "dangerous"],
  ["reasoning_extraction", "instructions"],
  ["frontier_llm", "provider_terms"],
]);

/** The ends of xAI's names of checks. */
const xaiWords: FilterWords = new Map([
  ["bio", "bio"],
  ["cyber", "cyber"],
  ["csam", "sexual"],
]);

/** Refusals that have no code of their own: DeepSeek's, Anthropic's, xAI's, and OpenAI's of prompts. */
const refusals = [
  "Content Exists Risk",
  "Output blocked by content filtering policy",
  "Content violates usage guidelines",
  "flagged as potentially violating our usage policy",
];

/** No provider has more categories, nor longer names of them. */
const mostNames = 50;
const mostCharacters = 64;

function reasonFor(words: FilterWords, name: unknown): FilterReason {
  if (typeof name !== "string" || name.length > mostCharacters) return "other";
  const [first = ""] = name.toLowerCase().split("/");
  return words.get(first.trim().replaceAll(/[\s-]/g, "_")) ?? "other";
}

/** One of our reasons for what a provider names: the first in our order, so that it does not depend on the provider's. */
export function reasonNamed(words: FilterWords, names: readonly unknown[]): FilterReason {
  const found = new Set(names.slice(0, mostNames).map((name) => reasonFor(words, name)));
  return filterReasons.find((reason) => found.has(reason)) ?? "unspecified";
}

const namesOf = (value: unknown) => (Array.isArray(value) ? value : []);
/** Takes an object with a result for each filter, and returns the filters that stopped something. */
const stopped = (results: unknown) =>
  Object.entries(fieldsOf(results)).flatMap(([name, result]) => (fieldsOf(result).filtered === true ? [name] : []));
const flagged = (categories: unknown) => Object.entries(fieldsOf(categories)).flatMap(([name, is]) => (is === true ? [name] : []));

/** Undefined if no filter has stopped anything. */
export function azureReason(results: unknown): FilterReason | undefined {
  const names = stopped(results);
  return names.length > 0 ? reasonNamed(azureWords, names) : undefined;
}

/** The results of filters and of moderation that servers put into a response of OpenAI's Responses. */
export function reasonOfResponse({ content_filters: filters, moderation }: EventData): FilterReason {
  const names = listOf(filters).flatMap((filter) => stopped(filter.content_filter_results));
  if (names.length > 0) return reasonNamed(azureWords, names);
  const { input, output } = fieldsOf(moderation);
  return reasonNamed(
    openAiWords,
    [input, output].flatMap((result) => flagged(fieldsOf(result).categories)),
  );
}

/** What a reason of chat completions to finish says, if it is a filter: OpenAI's, or Google's with or without OpenAI's before it. */
export function finishFilter(finish: string): FilterReason | undefined {
  const [first = "", rest] = finish.toLowerCase().split(":");
  if (first === "content_filter") return rest === undefined ? "unspecified" : reasonNamed(googleWords, [rest]);
  return googleWords.get(first);
}

/** What the words of an error say: pictures of OpenAI's list their categories, and xAI its check. */
function reasonInWords(words: string): FilterReason | undefined {
  const [, listed] = /safety_violations=\[([^\]]{1,500})\]/.exec(words) ?? [];
  if (listed !== undefined) return reasonNamed(openAiWords, listed.split(","));
  const checks = [...words.slice(0, 4_000).matchAll(/SAFETY_CHECK_TYPE_([A-Z]{1,40})/g)].map(([, name]) => name);
  return checks.length > 0 ? reasonNamed(xaiWords, checks) : undefined;
}

/** Why a filter stopped what the words of an error are about. */
export const reasonOfWords = (words: string): FilterReason => reasonInWords(words) ?? "unspecified";

/** Why a filter refused, by an error's fields; undefined if the error is not about a filter. */
export function reasonOfError(error: EventData): FilterReason | undefined {
  const { code, message, moderation_details: details, innererror, inner_error } = error;
  const words = typeof message === "string" ? message : "";
  const coded = typeof code === "string" ? openAiCodes.get(code) : undefined;
  if (coded === undefined && !refusals.some((each) => words.includes(each))) return undefined;
  if (coded !== undefined && coded !== "unspecified") return coded;
  const categories = namesOf(fieldsOf(details).categories);
  if (categories.length > 0) return reasonNamed(openAiWords, categories);
  for (const inner of [error, innererror, inner_error].filter(isFields)) {
    const reason = azureReason(inner.content_filter_result) ?? azureReason(inner.content_filter_results);
    if (reason) return reason;
  }
  return reasonOfWords(words);
}
