/**
 * The two tokens of a sign-in. The access token is a short-lived JWT that names person and sign-in. The refresh token is
 * `session.counter.signature`, the signature being HMAC(server key, session‖counter): the successor can be derived again
 * for a parallel tab, so hashes alone rest in the database.
 */
import jwt from "@fastify/jwt";
import { validate as isUuid } from "uuid";
import { accessTokenMs } from "#domain/periods.ts";
import type { Config } from "../../config.ts";
import type { Deps } from "../../deps.ts";
import type { App } from "../../http/app-type.ts";
import { decodeUuid, deriveKey, encodeUuid, isSignatureOf, signText } from "../../http/secret-keys.ts";

interface AccessClaims {
  /** The person's id. */
  sub: string;
  /** The sign-in's id (auth_sessions). */
  sid: string;
  /** The counter of the refresh token that came with it; tokens of the release before have none. */
  cnt?: number;
}

declare module "@fastify/jwt" {
  interface FastifyJWT {
    payload: AccessClaims;
  }
}

export const accessTokenSeconds = accessTokenMs / 1_000;
const issuer = "tessera";
const audience = "tessera-api";

/** Gives the application `app.jwt`: HS256 alone, our issuer and audience alone. To be called before any route is registered. */
export async function registerTokens(app: App, deps: Pick<Deps, "config">): Promise<void> {
  await app.register(jwt, {
    secret: deriveKey(deps.config.secretKey, "access-token"),
    // A number counts as seconds here; the library underneath would read milliseconds.
    sign: { algorithm: "HS256", iss: issuer, aud: audience, expiresIn: accessTokenSeconds },
    verify: { algorithms: ["HS256"], allowedIss: issuer, allowedAud: audience, requiredClaims: ["sub", "sid", "exp", "iss", "aud"] },
  });
}

export function signAccessToken(app: App, claims: AccessClaims): string {
  return app.jwt.sign(claims);
}

/** Null for anything but a token of ours that is still good. */
export function readAccessToken(app: App, token: string): AccessClaims | null {
  try {
    const claims = app.jwt.verify<AccessClaims>(token);
    return isUuid(claims.sub) && isUuid(claims.sid) && Number.isSafeInteger(claims.cnt ?? 0) ? claims : null;
  } catch {
    return null;
  }
}

export interface RefreshToken {
  sessionId: string;
  counter: number;
}

type KeyHolder = Pick<Config, "secretKey">;

export function writeRefreshToken(config: KeyHolder, { sessionId, counter }: RefreshToken): string {
  const signature = signText(deriveKey(config.secretKey, "refresh-token"), `${sessionId}.${counter}`);
  return `${encodeUuid(sessionId)}.${counter}.${signature}`;
}

/** Undefined for anything we did not issue; whether it is still good is for the database to say. */
export function readRefreshToken(config: KeyHolder, token: string): RefreshToken | undefined {
  const [head = "", counter = "", signature = "", ...rest] = token.split(".");
  const sessionId = decodeUuid(head);
  if (sessionId === undefined || !/^(0|[1-9]\d{0,8})$/.test(counter) || rest.length > 0) return undefined;
  if (!isSignatureOf(deriveKey(config.secretKey, "refresh-token"), `${sessionId}.${counter}`, signature)) return undefined;
  return { sessionId, counter: Number(counter) };
}
