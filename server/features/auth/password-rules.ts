import { readFileSync } from "node:fs";
import { checkPassword, ruleMessages } from "#domain/rules.ts";

/** One password a line; lines of the licence and the source begin with "# ". */
const commonPasswords = new Set(
  readFileSync(new URL("./common-passwords.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#")),
);

/** The words that people think of first here. A password is refused if it is one of them, with or without digits and signs. */
const ownWords = new Set(["tessera", "mytessera", "tesseraai", "tesserachat"]);

function isOwnWord(password: string): boolean {
  return ownWords.has(password.replace(/[^\p{L}]/gu, ""));
}

/**
 * The rules for a new password (spec §5). Returns the message of the first broken rule, or undefined. Passwords that people already
 * have are never checked, so a stricter rule locks nobody out.
 */
export function checkNewPassword(password: string, email: string): string | undefined {
  const fault = checkPassword(password, email);
  if (fault !== undefined) return fault;
  const typed = password.normalize("NFKC").toLowerCase();
  return commonPasswords.has(typed) || isOwnWord(typed) ? ruleMessages.passwordCommon : undefined;
}
