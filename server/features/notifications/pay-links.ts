/**
 * The link of a mail that leads to paying one invoice. It needs no sign-in, because a mail may be opened anywhere, and it does nothing but
 * lead to the payment provider's page of that invoice. Its token names the invoice and is signed, so that it can't be made up.
 */
import type { KeyHolder } from "../../http/secret-keys.ts";
import { isSignatureOf, signText } from "../../http/secret-keys.ts";

export function payToken(config: KeyHolder, invoiceId: string): string {
  return `${Buffer.from(invoiceId).toString("base64url")}.${signText(config, "pay-invoice", invoiceId)}`;
}

/** Returns the invoice that a token belongs to; undefined if we did not issue it. */
export function readPayToken(config: KeyHolder, token: string): string | undefined {
  const [head = "", signature = "", ...rest] = token.split(".");
  const invoiceId = Buffer.from(head, "base64url").toString("utf8");
  if (rest.length > 0) return undefined;
  return isSignatureOf(config, "pay-invoice", invoiceId, signature) ? invoiceId : undefined;
}
