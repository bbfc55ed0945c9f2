/**
 * Why a provider's content filter stopped an answer. Providers have words of their own for it (providers/models/filter-words.ts), none of which
 * is kept or shown. Where a provider names several, the answer has the first of them in this order.
 */
export const filterReasons = [
  "self_harm",
  "sexual",
  "violence",
  "hate",
  "harassment",
  "bio",
  "cyber",
  /** What is illegal, or could do harm in another way: weapons, drugs. */
  "dangerous",
  "copyright",
  "personal_data",
  /** Words that the provider has on a list. */
  "wording",
  /** Attempts to make the model ignore its rules, or reveal how it thinks. */
  "instructions",
  /** What the provider's terms leave out without it being harmful, such as making models that compete with its own. */
  "provider_terms",
  /** The provider named a reason that is none of these. */
  "other",
  /** It named none. */
  "unspecified",
] as const;
export type FilterReason = (typeof filterReasons)[number];
