import { Type } from "typebox";
import { filterReasons } from "#domain/filter-reasons.ts";

/** How an answer ended. What is optional is left out where there is nothing of the kind, or the provider does not say. */
export const outcome = {
  failureCode: Type.Union([Type.String(), Type.Null()]),
  /** With the failure `content_filtered`: what the provider's filter stopped. A reader takes a reason that it does not know for `other`. */
  filterReason: Type.Optional(Type.Enum([...filterReasons])),
  /** The answer reached the model's length limit. It is complete and charged, and the person can ask the model to continue. */
  cutShort: Type.Boolean(),
  /** How often the model searched the web. The price includes searches and thinking. */
  searches: Type.Optional(Type.Integer({ minimum: 0 })),
  /** How many tokens the model thought. */
  thinkingTokens: Type.Optional(Type.Integer({ minimum: 0 })),
};
