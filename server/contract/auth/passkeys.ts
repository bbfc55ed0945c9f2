/** What a browser asks and answers for passkeys, in the JSON forms of WebAuthn (W3C, level 3, §5.1). Bytes are base64url. */
import type { Static } from "typebox";
import { Type } from "typebox";
import { transports } from "#domain/passkeys.ts";
import { NoBody, NoContent, Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { SignedIn } from "./sign-in.ts";

/** One of the person's passkeys. */
export const Passkey = Type.Object({
  id: Uuid,
  /** The authenticator's name for the passkey. We use it to tell a browser which passkeys are still good. */
  credentialId: Type.String(),
  name: Type.String(),
  /** Where it is: in an account that copies it to the person's devices, on one device, or on a key that is plugged in or held near. */
  place: Type.Union([Type.Literal("synced"), Type.Literal("device"), Type.Literal("security_key")]),
  createdAt: Timestamp,
  lastUsedAt: Type.Union([Timestamp, Type.Null()]),
});
export type Passkey = Static<typeof Passkey>;

const bytes = (maxLength: number) => Type.String({ maxLength, pattern: "^[\\w-]+$" });
const CredentialId = bytes(1_400);
const PublicKey = Type.Literal("public-key");
const Descriptor = Type.Object({ id: Type.String(), type: PublicKey, transports: Type.Array(Type.Enum([...transports])) });
const Required = Type.Literal("required");

const RegistrationOptions = Type.Object({
  rp: Type.Object({ name: Type.String(), id: Type.String() }),
  user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  challenge: Type.String(),
  pubKeyCredParams: Type.Array(Type.Object({ alg: Type.Integer(), type: PublicKey })),
  timeout: Type.Integer(),
  excludeCredentials: Type.Array(Descriptor),
  authenticatorSelection: Type.Object({ residentKey: Required, requireResidentKey: Type.Boolean(), userVerification: Required }),
  attestation: Type.Literal("none"),
});
export type RegistrationOptions = Static<typeof RegistrationOptions>;

const Registration = Type.Object({
  id: CredentialId,
  rawId: CredentialId,
  type: PublicKey,
  response: Type.Object({
    clientDataJSON: bytes(4_000),
    attestationObject: bytes(20_000),
    /** Others than we know may come, and are left out. */
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 30 }), { maxItems: 10 })),
  }),
});
export type Registration = Static<typeof Registration>;

const SignInOptions = Type.Object({
  challenge: Type.String(),
  rpId: Type.String(),
  timeout: Type.Integer(),
  userVerification: Required,
  /** Absent: any passkey of this site. */
  allowCredentials: Type.Optional(Type.Array(Descriptor)),
});
export type SignInOptions = Static<typeof SignInOptions>;

/** What a passkey signed. */
export const Assertion = Type.Object({
  id: CredentialId,
  rawId: CredentialId,
  type: PublicKey,
  response: Type.Object({
    clientDataJSON: bytes(4_000),
    authenticatorData: bytes(4_000),
    signature: bytes(4_000),
    userHandle: Type.Optional(bytes(100)),
  }),
});
export type Assertion = Static<typeof Assertion>;

const PasskeyName = Type.String({ maxLength: 2_000 });

export const passkeyRoutes = {
  "POST /api/auth/passkey/options": {
    summary: "Begin to sign in with a passkey. The browser asks which one: no address is needed",
    body: NoBody,
    response: { 200: SignInOptions },
  },
  "POST /api/auth/passkey": {
    summary: "Sign in with what a passkey signed. It is two factors by itself, so no code is asked for",
    body: Type.Object({ assertion: Assertion }, { additionalProperties: false }),
    response: { 200: SignedIn },
  },
  "GET /api/account/passkeys": {
    summary: "The person's passkeys, the oldest first",
    response: { 200: Type.Object({ passkeys: Type.Array(Passkey) }) },
  },
  "POST /api/account/passkeys/options": {
    summary: "Begin to add a passkey. May answer `step_up_required`",
    body: NoBody,
    response: { 200: RegistrationOptions },
  },
  "POST /api/account/passkeys": {
    summary: "Add the passkey that the browser made. May answer `step_up_required`",
    body: Type.Object({ registration: Registration, name: PasskeyName }, { additionalProperties: false }),
    response: { 200: Passkey },
  },
  "PATCH /api/account/passkeys/:id": {
    summary: "Give a passkey another name",
    params: Type.Object({ id: Uuid }),
    body: Type.Object({ name: PasskeyName }, { additionalProperties: false }),
    response: { 200: Passkey },
  },
  "DELETE /api/account/passkeys/:id": {
    summary: "Remove a passkey. The last way in is not removed. May answer `step_up_required`",
    params: Type.Object({ id: Uuid }),
    response: { 204: NoContent },
  },
  "POST /api/account/step-up/passkey": {
    summary: "Begin to show a passkey again within this sign-in. What it signed goes to `POST /api/account/step-up`",
    body: NoBody,
    response: { 200: SignInOptions },
  },
} as const satisfies Record<string, RouteContract>;
