/** Sets up an authenticator app for a person of the tests, and makes its codes. */
import { Secret, TOTP } from "otpauth";
import { expect } from "vitest";
import type { TotpSetUp } from "#contract/auth/factors.ts";
import type { Session } from "#contract/auth/sign-in.ts";
import type { AuthApp } from "./auth-support.ts";

export const codeMs = 30_000;

/** The code that an app shows at an instant. */
export function codeAt(secret: string, milliseconds: number): string {
  return new TOTP({ secret: Secret.fromBase32(secret), digits: 6, period: 30, algorithm: "SHA1" }).generate({ timestamp: milliseconds });
}

export const bearer = ({ access_token }: Session) => ({ authorization: `Bearer ${access_token}` });

/** Turns the second factor on. Returns the app's secret in base32, and the recovery codes. */
export async function turnOn(product: AuthApp, session: Session): Promise<{ secret: string; recoveryCodes: string[] }> {
  const headers = bearer(session);
  const { secret, setUp } = (await product.post("/api/account/factors/totp", {}, { headers })).json<TotpSetUp>();
  const confirmed = await product.post("/api/account/factors/totp/confirm", { setUp, code: codeAt(secret, Date.now()) }, { headers });
  expect(confirmed.statusCode).toBe(200);
  return { secret, ...confirmed.json<{ recoveryCodes: string[] }>() };
}
