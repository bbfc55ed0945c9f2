/** The settings that an admin changes without a deploy, and the environment. For admins; others get `not_found`. */
import type { Static, TOptional, TSchema } from "typebox";
import { Type } from "typebox";
import type { LanguageCode } from "../domain/languages.ts";
import { languages } from "../domain/languages.ts";
import { noticeBounds, noticeTones, settingNames } from "../domain/settings.ts";
import { Reason } from "./admin/team.ts";
import { Timestamp } from "./common.ts";
import type { RouteContract } from "./route.ts";

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const NoticeText = Type.String({ minLength: 1, maxLength: noticeBounds.textCharacters, pattern: "\\S" });
const NoticeTexts = Object.fromEntries(languages.map(({ code }) => [code, Type.Optional(NoticeText)])) as Record<
  LanguageCode,
  TOptional<typeof NoticeText>
>;
export const Notice = Type.Object(
  {
    tone: Type.Enum([...noticeTones]),
    texts: Type.Object(NoticeTexts, { additionalProperties: false }),
    until: Timestamp,
  },
  { additionalProperties: false },
);

/** The value of a switch, an amount, a choice, or the notice. */
const Value = Type.Union([Type.Boolean(), Type.Integer(), Type.String({ maxLength: 20 }), Notice, Type.Null()]);

export const Setting = Type.Object({
  name: Type.Enum([...settingNames]),
  /** The value in use. */
  value: Value,
  default: Value,
  isDefault: Type.Boolean(),
  /** The stored value is outside the limits of this release, so the default is used. */
  isOutside: Type.Boolean(),
  /** Counts the changes; 0: nobody has changed it. */
  version: Type.Integer({ minimum: 0 }),
  changedAt: orNull(Timestamp),
  /** The address of whoever changed it last; null: nobody did, or they have left. */
  changedBy: orNull(Type.String()),
  reason: orNull(Type.String()),
});
export type Setting = Static<typeof Setting>;

export const Variable = Type.Object({
  name: Type.String(),
  isSet: Type.Boolean(),
  isSecret: Type.Boolean(),
  /** The value in use, also if the variable is not set. Secrets are left out, and so are passwords and paths of addresses. */
  value: orNull(Type.String()),
});
export type Variable = Static<typeof Variable>;

export const SettingsPage = Type.Object({
  settings: Type.Array(Setting),
  /** The environment variables that the answering process has read at its start. */
  variables: Type.Array(Variable),
});
export type SettingsPage = Static<typeof SettingsPage>;

export const SetSetting = Type.Object(
  {
    /** The version that the caller saw. */
    version: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
    /** Null: back to the default. */
    value: Value,
    reason: Reason,
  },
  { additionalProperties: false },
);
export type SetSetting = Static<typeof SetSetting>;

export const adminSettingsRoutes = {
  "GET /api/admin/settings": {
    summary: "For admins: the settings that can be changed, and the environment, without secrets",
    response: { 200: SettingsPage },
  },
  "PUT /api/admin/settings/:name": {
    summary:
      "For admins: change a setting within its limits. It holds everywhere within seconds. May answer `step_up_required`, `conflict`",
    params: Type.Object({ name: Type.Enum([...settingNames]) }),
    body: SetSetting,
    response: { 200: Setting },
  },
} as const satisfies Record<string, RouteContract>;
