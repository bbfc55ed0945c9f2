import { readFileSync } from "node:fs";
import { checkPassword, ruleMessages } from "#domain/rules.ts";

/** One password a line; lines of the licence and the source begin with "# ". */
const commonPasswords = new Set(
  readFileSync(new URL("./common-passwords.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#")),
);

/**
 * The rules for a new password (spec §5). Returns the message of the first broken rule, or undefined. Passwords that people already
 * have are never checked, so a stricter rule locks nobody out.
 */
export function checkNewPassword(password: string, email: string): string | undefined {
  const fault = checkPassword(password, email);
  if (fault !== undefined) return fault;
  return commonPasswords.has(password.normalize("NFKC").toLowerCase()) ? ruleMessages.passwordCommon : undefined;
}
