/**
 * The token of a mailed link is derived from the link's id, so that no usable link is stored. The link's row has a hash of the token,
 * the mail's row has the id, and only the mail itself has the token.
 */
import type { Config } from "../../config.ts";
import { decodeUuid, deriveKey, encodeUuid, isSignatureOf, signText } from "../../http/secret-keys.ts";

export function linkToken(config: Pick<Config, "secretKey">, linkId: string): string {
  return `${encodeUuid(linkId)}.${signText(deriveKey(config.secretKey, "mailed-link"), linkId)}`;
}

/** Returns the link that a token belongs to; undefined if we did not issue it. */
export function readLinkToken(config: Pick<Config, "secretKey">, token: string): string | undefined {
  const [head = "", signature = "", ...rest] = token.split(".");
  const linkId = decodeUuid(head);
  if (linkId === undefined || rest.length > 0) return undefined;
  return isSignatureOf(deriveKey(config.secretKey, "mailed-link"), linkId, signature) ? linkId : undefined;
}
