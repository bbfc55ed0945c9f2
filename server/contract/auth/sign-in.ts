import type { Static } from "typebox";
import { Type } from "typebox";
import { NoContent, Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";

export const User = Type.Object({
  id: Uuid,
  email: Type.String(),
  user_metadata: Type.Object({
    avatar_url: Type.Union([Type.String(), Type.Null()]),
    /** Missing if the person gave none. */
    name: Type.Optional(Type.String()),
  }),
});
export type User = Static<typeof User>;

/** Exactly the fields of spec §3; `expires_at` in Unix seconds, `expires_in` in seconds. */
export const Session = Type.Object({
  access_token: Type.String(),
  refresh_token: Type.String(),
  expires_at: Type.Integer(),
  expires_in: Type.Integer(),
  token_type: Type.Literal("bearer"),
  user: User,
});
export type Session = Static<typeof Session>;

/**
 * The first factor was right, and the account has a second one: no session yet. `token` goes to `POST /api/auth/factor` with a code,
 * from the same browser.
 */
export const FactorNeeded = Type.Object({
  status: Type.Literal("factor_needed"),
  token: Type.String(),
  methods: Type.Array(Type.Union([Type.Literal("totp"), Type.Literal("recovery_code")])),
});
export type FactorNeeded = Static<typeof FactorNeeded>;

/**
 * Every factor was right, and the account is to be deleted at `deleteAt`: no session. `token` goes to `POST /api/auth/restore`, from the
 * same browser.
 */
export const DeletionPending = Type.Object({ status: Type.Literal("deletion_pending"), token: Type.String(), deleteAt: Timestamp });
export type DeletionPending = Static<typeof DeletionPending>;

export const SignedIn = Type.Union([Session, FactorNeeded, DeletionPending]);
export type SignedIn = Static<typeof SignedIn>;

/** Only a rough limit: the domain's rules check the exact length and give the specification's messages. */
const text = (maxLength: number) => Type.String({ maxLength });
const Credentials = { email: text(2_000), password: text(2_000) };
const LinkToken = text(200);
export const Accepted = Type.Object({ status: Type.Literal("check_email") });

/** `here`: one click confirms. `password`: the person has to enter the password chosen at sign-up. `used`: already confirmed. */
export const MailedLink = Type.Object({
  email: Type.String(),
  state: Type.Union([Type.Literal("here"), Type.Literal("password"), Type.Literal("used")]),
});
export type MailedLink = Static<typeof MailedLink>;

export const authRoutes = {
  "POST /api/auth/sign-up": {
    summary: "Create an account. Known and unknown addresses are answered alike; the rest is said in the mail",
    body: Type.Object({ ...Credentials, language: Type.Optional(text(35)) }, { additionalProperties: false }),
    response: { 202: Accepted },
  },
  "POST /api/auth/link": {
    summary: "Look at a mailed link without opening it: whose it is, and whether opening it here asks for the password",
    body: Type.Object({ token: LinkToken }, { additionalProperties: false }),
    response: { 200: MailedLink },
  },
  "POST /api/auth/confirm": {
    summary: "Confirm the address and sign in: in the browser that signed up by the link alone, elsewhere with the password as well",
    body: Type.Object({ token: LinkToken, password: Type.Optional(Credentials.password) }, { additionalProperties: false }),
    response: { 200: SignedIn },
  },
  "POST /api/auth/disown": {
    summary: "Delete the sign-up a mailed link belongs to, for an address's owner who never signed up",
    body: Type.Object({ token: LinkToken }, { additionalProperties: false }),
    response: { 204: NoContent },
  },
  "POST /api/auth/resend-confirmation": {
    summary: "Mail the confirmation link again",
    body: Type.Object({ email: Credentials.email }, { additionalProperties: false }),
    response: { 202: Accepted },
  },
  "POST /api/auth/recover": {
    summary: "Mail a link with which to choose a new password. Known and unknown addresses are answered alike",
    body: Type.Object({ email: Credentials.email }, { additionalProperties: false }),
    response: { 202: Accepted },
  },
  "POST /api/auth/recovery-link": {
    summary: "Look at a link for a new password without using it: whose it is",
    body: Type.Object({ token: LinkToken }, { additionalProperties: false }),
    response: { 200: Type.Object({ email: Type.String() }) },
  },
  "POST /api/auth/reset-password": {
    summary: "Choose a new password with a mailed link. Ends all sign-ins, and signs in only in the browser that asked for the link",
    body: Type.Object({ token: LinkToken, password: Credentials.password }, { additionalProperties: false }),
    response: { 200: Type.Object({ session: Type.Union([Session, FactorNeeded, DeletionPending, Type.Null()]) }) },
  },
  "POST /api/auth/sign-in": {
    summary: "Sign in with e-mail and password",
    body: Type.Object(Credentials, { additionalProperties: false }),
    response: { 200: SignedIn },
  },
  "POST /api/auth/factor": {
    summary: "Show the second factor, a code of the authenticator app or a recovery code, and sign in",
    body: Type.Object({ token: text(200), code: text(100) }, { additionalProperties: false }),
    response: { 200: SignedIn },
  },
  "POST /api/auth/refresh": {
    summary: "Exchange the refresh token for its successor. Reuse after the grace revokes the sign-in everywhere",
    body: Type.Object({ refresh_token: text(500) }, { additionalProperties: false }),
    response: { 200: Session },
  },
  "POST /api/auth/sign-out": {
    summary: "End this sign-in. Works with an expired access token too: the refresh token names what to end",
    body: Type.Object({ refresh_token: text(500) }, { additionalProperties: false }),
    response: { 204: NoContent },
  },
} as const satisfies Record<string, RouteContract>;
