/**
 * The two tokens of a sign-in. The access token is a short-lived JWT with the ids of the person and the sign-in. The refresh token is
 * `session.counter.signature`; the signature is HMAC(server key, session‖counter). We can derive a token again for a parallel tab, so the
 * database stores only hashes of tokens.
 */
import jwt from "@fastify/jwt";
import { validate as isUuid } from "uuid";
import { accessTokenMs } from "#domain/periods.ts";
import type { Deps } from "../../deps.ts";
import type { App } from "../../http/app-type.ts";
import type { KeyHolder } from "../../http/secret-keys.ts";
import { decodeUuid, deriveKey, encodeUuid, hashToken, isSignatureOf, signaturesOf } from "../../http/secret-keys.ts";

interface AccessClaims {
  /** The person's id. */
  sub: string;
  /** The sign-in's id (auth_sessions). */
  sid: string;
  /** The counter of the refresh token that came with it; tokens of the previous release have none. */
  cnt?: number;
}

declare module "@fastify/jwt" {
  interface FastifyJWT {
    payload: AccessClaims;
  }
}

declare module "fastify" {
  interface FastifyInstance {
    /** Sign nothing any more; tokens signed with them before are still valid. */
    previousTokenKeys: readonly Buffer[];
  }
}

export const accessTokenSeconds = accessTokenMs / 1_000;
/** How many tokens a process remembers as verified. */
const verifiedTokens = 2_000;
const issuer = "tessera";
const audience = "tessera-api";

/** Adds `app.jwt`, which accepts only HS256, our issuer and our audience. Call it before any route is registered. */
export async function registerTokens(app: App, deps: Pick<Deps, "config">): Promise<void> {
  const [newest, ...previous] = deps.config.secretKeys;
  app.decorate(
    "previousTokenKeys",
    previous.map((secretKey) => deriveKey(secretKey, "access-token")),
  );
  await app.register(jwt, {
    secret: deriveKey(newest, "access-token"),
    // This number is in seconds; the library that does the signing would read milliseconds.
    sign: { algorithm: "HS256", iss: issuer, aud: audience, expiresIn: accessTokenSeconds },
    // The library remembers verified tokens by their hash until they expire. PostgreSQL says at each call whether the sign-in still holds.
    verify: {
      cache: verifiedTokens,
      algorithms: ["HS256"],
      allowedIss: issuer,
      allowedAud: audience,
      requiredClaims: ["sub", "sid", "exp", "iss", "aud"],
    },
  });
}

export function signAccessToken(app: App, claims: AccessClaims): string {
  return app.jwt.sign(claims);
}

function verify(app: App, token: string): AccessClaims | undefined {
  for (const options of [undefined, ...app.previousTokenKeys.map((key) => ({ key }))]) {
    try {
      return app.jwt.verify<AccessClaims>(token, options);
    } catch {
      // Another key may fit.
    }
  }
  return undefined;
}

/** Returns null unless the token is ours and has not expired. */
export function readAccessToken(app: App, token: string): AccessClaims | null {
  const claims = verify(app, token);
  return claims && isUuid(claims.sub) && isUuid(claims.sid) && Number.isSafeInteger(claims.cnt ?? 0) ? claims : null;
}

export interface RefreshToken {
  sessionId: string;
  counter: number;
}

function refreshTokens(config: KeyHolder, { sessionId, counter }: RefreshToken): [string, ...string[]] {
  const head = `${encodeUuid(sessionId)}.${counter}`;
  const [newest, ...previous] = signaturesOf(config, "refresh-token", `${sessionId}.${counter}`);
  return [`${head}.${newest}`, ...previous.map((signature) => `${head}.${signature}`)];
}

export function writeRefreshToken(config: KeyHolder, token: RefreshToken): string {
  return refreshTokens(config, token)[0];
}

/** The forms in which the database may have stored this token: the key of the process that stored it may be the old one. */
export function refreshTokenHashes(config: KeyHolder, token: RefreshToken): Buffer[] {
  return refreshTokens(config, token).map(hashToken);
}

/** Returns undefined if we did not issue the token. Whether it is still valid is in the database. */
export function readRefreshToken(config: KeyHolder, token: string): RefreshToken | undefined {
  const [head = "", counter = "", signature = "", ...rest] = token.split(".");
  const sessionId = decodeUuid(head);
  if (sessionId === undefined || !/^(0|[1-9]\d{0,8})$/.test(counter) || rest.length > 0) return undefined;
  if (!isSignatureOf(config, "refresh-token", `${sessionId}.${counter}`, signature)) return undefined;
  return { sessionId, counter: Number(counter) };
}
