/** Sign-in with Google (OpenID Connect): its addresses, and the check of its tokens, which say who somebody is. */
import { createRemoteJWKSet, errors, jwtVerify } from "jose";
import { DomainError } from "#domain/errors.ts";
import type { Config } from "../config.ts";
import { refuseWithinTransaction } from "../db/transaction.ts";

export interface GoogleAccount {
  /** Google's name for the account, which never changes. */
  subject: string;
  email: string;
  emailVerified: boolean;
  /** When the person last showed Google who they are; null if Google does not say. It says so only if it is asked to. */
  authenticatedAt: Date | null;
}

export interface Google {
  clientId: string;
  clientSecret: string;
  authorizeUrl: URL;
  tokenUrl: URL;
  /**
   * Checks signature, issuer, audience, expiry and nonce. Throws `google_refused` for a token that is not meant for this sign-in, and
   * `google_unavailable` if Google's keys can't be read.
   */
  readIdToken(idToken: string, nonces: readonly string[]): Promise<GoogleAccount>;
}

export const googleTimeoutMs = 8_000;

function addressesOf(issuer: URL | undefined) {
  if (issuer) {
    return {
      issuers: [issuer.origin],
      authorizeUrl: new URL("/o/oauth2/v2/auth", issuer),
      tokenUrl: new URL("/oauth2/token", issuer),
      keysUrl: new URL("/oauth2/v3/certs", issuer),
    };
  }
  return {
    // Google's documentation names both forms.
    issuers: ["https://accounts.google.com", "accounts.google.com"],
    authorizeUrl: new URL("https://accounts.google.com/o/oauth2/v2/auth"),
    tokenUrl: new URL("https://oauth2.googleapis.com/token"),
    keysUrl: new URL("https://www.googleapis.com/oauth2/v3/certs"),
  };
}

export function googleUnavailable(): DomainError {
  return new DomainError("google_unavailable", "Google can't be reached. Try again in a moment, or sign in another way");
}

export function googleRefused(): DomainError {
  return new DomainError("google_refused", "Google's answer could not be verified. Start again");
}

/** True if Google's keys could not be read; false if the token does not match them. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true;
  // A response that is not 200 has the general code.
  return error instanceof errors.JWKSTimeout || error.code === "ERR_JOSE_GENERIC";
}

export function createGoogle({ clientId, clientSecret, issuer }: NonNullable<Config["google"]>): Google {
  const { issuers, authorizeUrl, tokenUrl, keysUrl } = addressesOf(issuer);
  const keys = createRemoteJWKSet(keysUrl, { timeoutDuration: googleTimeoutMs });
  const checks = { issuer: issuers, audience: clientId, algorithms: ["RS256"], requiredClaims: ["sub", "exp", "iat", "nonce"] };
  return {
    ...{ clientId, clientSecret, authorizeUrl, tokenUrl },
    async readIdToken(idToken, nonces) {
      refuseWithinTransaction("Google");
      const { payload } = await jwtVerify(idToken, keys, checks).catch((error: unknown) => {
        throw isOutage(error) ? googleUnavailable() : googleRefused();
      });
      const { sub, email, email_verified: emailVerified, auth_time: authTime, aud } = payload;
      // A token for several audiences was made for somebody else as well.
      if (!nonces.includes(String(payload.nonce)) || typeof aud !== "string" || typeof sub !== "string" || sub === "")
        throw googleRefused();
      return {
        subject: sub,
        email: typeof email === "string" ? email : "",
        emailVerified: emailVerified === true,
        authenticatedAt: typeof authTime === "number" ? new Date(authTime * 1_000) : null,
      };
    },
  };
}
