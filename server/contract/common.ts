import type { Static } from "typebox";
import { Type } from "typebox";

/** RFC 3339, UTC. */
export const Timestamp = Type.String({ format: "date-time" });
export const Uuid = Type.String({ format: "uuid" });
export const Credits = Type.Integer({ minimum: 0 });
export const Cents = Type.Integer();
/** The tax within a price. `percent`: the rate of value added tax, where it is known; null: no tax is calculated. */
export const TaxShown = Type.Union([Type.Object({ percent: Type.Union([Type.Number(), Type.Null()]) }), Type.Null()]);
/** A call without a payload: `{}`, or no body (which arrives as null). */
export const NoBody = Type.Union([Type.Object({}, { additionalProperties: false }), Type.Null()]);
export const NoContent = Type.Null();

/** RFC 9457 with a stable `code`. `error` repeats the message, because spec §7 reads it from there. */
export const Problem = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: Type.String(),
  error: Type.String(),
  /** With validation_failed: which fields, and why. */
  fields: Type.Optional(Type.Array(Type.Object({ field: Type.String(), message: Type.String() }))),
  needed: Type.Optional(Credits),
  available: Type.Optional(Credits),
  quotedCredits: Type.Optional(Credits),
  /** With model_retired: the model to go on with, and in `quotedCredits` its price. */
  successor: Type.Optional(Type.String()),
  /** With finding_closed: when, and the address of who did it; nobody if a check did. */
  since: Type.Optional(Timestamp),
  by: Type.Optional(Type.String()),
  retryAfterSeconds: Type.Optional(Type.Integer()),
});
export type Problem = Static<typeof Problem>;
