/**
 * The token of a mailed link is derived from the link's id, so that no usable link is stored. The link's row has a hash of the token,
 * the mail's row has the id, and only the mail itself has the token.
 */
import type { KeyHolder } from "../../http/secret-keys.ts";
import { decodeUuid, encodeUuid, hashToken, isSignatureOf, signaturesOf } from "../../http/secret-keys.ts";

function linkTokens(config: KeyHolder, linkId: string): [string, ...string[]] {
  const [newest, ...previous] = signaturesOf(config, "mailed-link", linkId);
  const head = encodeUuid(linkId);
  return [`${head}.${newest}`, ...previous.map((signature) => `${head}.${signature}`)];
}

export function linkToken(config: KeyHolder, linkId: string): string {
  return linkTokens(config, linkId)[0];
}

/** The forms in which the database may have stored the link's token. The API stores it and the worker mails it, maybe under another key. */
export function linkTokenHashes(config: KeyHolder, linkId: string): Buffer[] {
  return linkTokens(config, linkId).map(hashToken);
}

/** Returns the link that a token belongs to; undefined if we did not issue it. */
export function readLinkToken(config: KeyHolder, token: string): string | undefined {
  const [head = "", signature = "", ...rest] = token.split(".");
  const linkId = decodeUuid(head);
  if (linkId === undefined || rest.length > 0) return undefined;
  return isSignatureOf(config, "mailed-link", linkId, signature) ? linkId : undefined;
}
