import type { Static, TString } from "typebox";
import { Type } from "typebox";
import type { LanguageCode } from "../domain/languages.ts";
import { languages } from "../domain/languages.ts";
import { Credits, Timestamp } from "./common.ts";
import type { RouteContract } from "./route.ts";
import { Notice } from "./settings.ts";

const offTextLength = 200;
type OffTextFields = Record<LanguageCode, TString>;

/** What people read about a model that is switched off, by language. People whose language has no text get the English one. */
export const OffTexts = Type.Partial(
  Type.Object(
    Object.fromEntries(languages.map(({ code }) => [code, Type.String({ minLength: 1, maxLength: offTextLength })])) as OffTextFields,
  ),
  { additionalProperties: false },
);

/** What a unit costs from the beginning of a day in UTC on. */
const NextPrice = Type.Object({ beginsOn: Type.String({ format: "date" }), credits: Credits });

/** What depends on the installation and is therefore not in the domain's catalogue: whether a model is available, and who serves it. */
const ModelAvailability = Type.Object({
  id: Type.String(),
  name: Type.String(),
  provider: Type.String(),
  category: Type.String(),
  credits: Credits,
  unit: Type.String(),
  /** Absent while no other price is planned. */
  nextPrice: Type.Optional(NextPrice),
  available: Type.Boolean(),
  /** How long it is not asked, because it failed again and again; then it may be available again. Null: it is asked. */
  pausedSeconds: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  sandbox: Type.Boolean(),
  /** The day, in UTC, on which it leaves, once that is announced. */
  until: Type.Union([Type.String({ format: "date" }), Type.Null()]),
  /** The model that conversations can go on with afterwards. */
  successor: Type.Union([Type.String(), Type.Null()]),
  /** It is switched off: by the operator's file, or by an admin, who may have written why. */
  switchedOff: Type.Optional(Type.Object({ texts: OffTexts })),
});
export const ModelList = Type.Object({ models: Type.Array(ModelAvailability) });
export type ModelList = Static<typeof ModelList>;

export const Environment = Type.Object({
  /** Address of the sandbox's control page; null without a sandbox. The client shows "Sandbox" while there is one. */
  sandboxUrl: Type.Union([Type.String(), Type.Null()]),
  /** Whether one can sign in with Google here. */
  google: Type.Boolean(),
  /** What every page says above its content for a while; null: nothing. */
  notice: Type.Union([Notice, Type.Null()]),
  serverTime: Timestamp,
});
export type Environment = Static<typeof Environment>;

export const catalogueRoutes = {
  "GET /api/models": { summary: "The models, their prices and whether they can be reached", response: { 200: ModelList } },
  "GET /api/environment": {
    summary: "Whether the sandbox is on, whether one can sign in with Google, and business time",
    response: { 200: Environment },
  },
} as const satisfies Record<string, RouteContract>;
