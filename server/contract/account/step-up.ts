import type { Static } from "typebox";
import { Type } from "typebox";
import { Assertion } from "../auth/passkeys.ts";
import { NoContent } from "../common.ts";
import type { RouteContract } from "../route.ts";

/**
 * The ways to show a factor again: each is an object with one field, which is named after the way. server/features/auth/step-up.ts checks
 * them, client/features/account/step-up-ways.tsx asks for them.
 */
const StepUpProof = Type.Union([
  Type.Object({ password: Type.String({ maxLength: 2_000 }) }, { additionalProperties: false }),
  /** A code of the authenticator app, or a recovery code. */
  Type.Object({ code: Type.String({ maxLength: 100 }) }, { additionalProperties: false }),
  /** Google's answer, which this browser has (`POST /api/account/step-up/google`). */
  Type.Object({ google: Type.Literal(true) }, { additionalProperties: false }),
  /** What one of the person's passkeys signed. */
  Type.Object({ passkey: Assertion }, { additionalProperties: false }),
]);
export type StepUpProof = Static<typeof StepUpProof>;

type KeyOf<Proof> = Proof extends object ? keyof Proof : never;
export type StepUpWay = KeyOf<StepUpProof>;
/** What the browser sends in the field of a way. */
export type ProofOf<Way extends StepUpWay> = Extract<StepUpProof, Record<Way, unknown>>[Way];

const StepUpWay = Type.Union([Type.Literal("passkey"), Type.Literal("password"), Type.Literal("code"), Type.Literal("google")]);

export const stepUpRoutes = {
  "GET /api/account/step-up": {
    summary: "The ways in which this person can show a factor again",
    response: { 200: Type.Object({ ways: Type.Array(StepUpWay) }) },
  },
  "POST /api/account/step-up": {
    summary: "Show a factor again. Calls that answer `step_up_required` are accepted for ten minutes afterwards",
    body: StepUpProof,
    response: { 204: NoContent },
  },
} as const satisfies Record<string, RouteContract>;
