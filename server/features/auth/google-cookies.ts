/**
 * What a browser keeps while somebody signs in with Google, in two signed cookies. `google` has the state that Google returns, the purpose,
 * the page to return to, and who is signed in. `google-answer` names the row with Google's answer, so that only this browser can use it.
 * Neither cookie signs anybody in.
 */
import type { FastifyRequest } from "fastify";
import { googleMs } from "#domain/periods.ts";
import type { Deps } from "../../deps.ts";
import type { CookieKind } from "../../http/cookies.ts";
import { readCookie } from "../../http/cookies.ts";
import type { KeyHolder } from "../../http/secret-keys.ts";
import { decodeUuid, encodeUuid, isSignatureOf, signaturesOf, signText } from "../../http/secret-keys.ts";

const maxAgeSeconds = googleMs / 1_000;
export const begunCookie: CookieKind = { name: "google", maxAgeSeconds, fromOtherSites: true };
export const answerCookie: CookieKind = { name: "google-answer", maxAgeSeconds };

export interface Begun {
  state: string;
  purpose: "sign-in" | "link" | "step-up";
  /** A path of ours; null if no page was asked for. */
  returnTo: string | null;
  /** The signed-in person who links Google to their account or proves who they are. Null for somebody who is signing in. */
  userId: string | null;
  /** Milliseconds since 1970. */
  at: number;
}

export function writeBegun(config: KeyHolder, begun: Begun): string {
  const text = Buffer.from(JSON.stringify(begun)).toString("base64url");
  return `${text}.${signText(config, "google", `begun ${text}`)}`;
}

/** Returns undefined if nothing was begun in this browser, or too long ago. */
export function readBegun(config: KeyHolder, cookie: string | undefined, now: Date): Begun | undefined {
  const [text = "", signature = "", ...rest] = (cookie ?? "").split(".");
  if (rest.length > 0 || !isSignatureOf(config, "google", `begun ${text}`, signature)) return undefined;
  const begun = JSON.parse(Buffer.from(text, "base64url").toString()) as Begun;
  return now.getTime() - begun.at < googleMs ? begun : undefined;
}

export function writeAnswer(config: KeyHolder, id: string): string {
  return `${encodeUuid(id)}.${signText(config, "google", `answer ${id}`)}`;
}

/** The id of the answer that Google gave in this browser. Undefined if we did not write the cookie. */
export function readGoogleAnswer({ config }: Pick<Deps, "config">, request: FastifyRequest): string | undefined {
  const cookie = readCookie(request, answerCookie, config.publicUrl.protocol === "https:");
  const [head = "", signature = "", ...rest] = (cookie ?? "").split(".");
  const id = decodeUuid(head);
  return id !== undefined && rest.length === 0 && isSignatureOf(config, "google", `answer ${id}`, signature) ? id : undefined;
}

/** Google's token must contain one of these, so that it is valid only for the sign-in with this state. The first one is sent. */
export function noncesOf(config: KeyHolder, state: string): [string, ...string[]] {
  return signaturesOf(config, "google", `nonce ${state}`);
}
