/** Each provider's own words for the reasons why its filter stopped something, by our reasons. Some providers have words for only a few. */
import type { FilterReason } from "#domain/filter-reasons.ts";
import type { ModelFault } from "./faults.ts";

type Words = Partial<Readonly<Record<FilterReason, string>>>;

/** A reason that the product does not know yet. */
const unknown = { other: "something_new" };

const moderation: Words = {
  ...{ self_harm: "self-harm", sexual: "sexual", violence: "violence/graphic", hate: "hate", harassment: "harassment" },
  ...{ dangerous: "illicit/violent", ...unknown },
};
/** The words of servers like Azure's, which speak OpenAI's protocols. */
const filters: Words = {
  ...{ self_harm: "self_harm", sexual: "sexual", violence: "violence", hate: "hate", copyright: "protected_material_text" },
  ...{ personal_data: "personally_identifiable_information", wording: "custom_blocklists", instructions: "jailbreak", ...unknown },
};
const anthropic: Words = {
  ...{ bio: "bio", cyber: "cyber", dangerous: "general_harms", instructions: "reasoning_extraction" },
  ...{ provider_terms: "frontier_llm", ...unknown },
};
const google: Words = { copyright: "RECITATION", personal_data: "SPII", wording: "BLOCKLIST" };
const xai: Words = { bio: "BIO", cyber: "CYBER", sexual: "CSAM", other: "DATA_LEAKAGE" };
const openAiCodes: Words = { bio: "bio_policy", cyber: "cyber_policy", other: "misalignment_policy_violation" };

const tables = { moderation, filters, anthropic, google, xai, openAiCodes };

/** The word of the fault's reason, or undefined: the provider has none for it. */
export function filterWord(table: keyof typeof tables, fault: ModelFault | undefined): string | undefined {
  return fault?.reason && tables[table][fault.reason];
}

/** The results of all filters, as servers like Azure's send them, including the one that stopped the answer. */
export function filterResults(fault: ModelFault | undefined): object | undefined {
  const word = filterWord("filters", fault);
  if (word === undefined) return undefined;
  const passed = Object.fromEntries(
    ["hate", "self_harm", "sexual", "violence"].map((name) => [name, { filtered: false, severity: "safe" }]),
  );
  return { ...passed, [word]: { filtered: true, severity: "medium" } };
}
