import i18next from "i18next";
import { checkReasons } from "#domain/subscription.ts";

const names = ["unavailable", "empty", "unverified", "none"] as const satisfies readonly (keyof typeof checkReasons)[];

/**
 * The reason of a subscription check in the reader's language. A reason that this client doesn't know, from a newer server,
 * gets a general text.
 */
export function reasonText(reason: string): string {
  const name = names.find((candidate) => checkReasons[candidate] === reason) ?? "other";
  return i18next.t(`reason.${name}`, { ns: "common" });
}
