import { contactRuleMessages } from "#domain/contact.ts";
import { matchLanguage } from "#domain/languages.ts";
import { codePoints, limits, readPersonName } from "#domain/rules.ts";
import type { Account } from "../../contract/account/account.ts";
import type { Executor } from "../../db/transaction.ts";
import { ValidationError } from "../../http/problem.ts";
import { findAskedAddress } from "../auth/change-email.ts";
import { selectAccount, updateProfile } from "./queries.ts";

export async function readAccount(executor: Executor, userId: string): Promise<Account> {
  const row = await selectAccount(executor, userId);
  const asked = await findAskedAddress(executor, userId);
  return {
    id: row.id,
    email: row.email,
    emailVerifiedAt: row.verified_at.toISOString(),
    name: row.name,
    language: row.language,
    avatarUrl: row.avatar_url,
    newEmail: asked && { email: asked.email, expiresAt: asked.expiresAt.toISOString() },
    createdAt: row.created_at.toISOString(),
    lastSignInAt: row.last_sign_in_at?.toISOString() ?? null,
  };
}

/** Changes the fields that are given. A blank name removes the name. Throws `validation_failed`. */
export async function changeProfile(
  executor: Executor,
  userId: string,
  changes: { name?: string | null; language?: string },
): Promise<Account> {
  const name = readPersonName(changes.name ?? "");
  const language = matchLanguage(changes.language);
  const faults = [
    { field: "name", message: codePoints(name ?? "") > limits.nameMax ? contactRuleMessages.nameLong : undefined },
    { field: "language", message: changes.language !== undefined && !language ? "The language is not one of the product's" : undefined },
  ];
  const broken = faults.flatMap(({ field, message }) => (message === undefined ? [] : [{ field, message }]));
  if (broken.length > 0) throw new ValidationError(broken);
  const set = { ...(changes.name === undefined ? {} : { name }), ...(language === undefined ? {} : { language }) };
  if (Object.keys(set).length > 0) await updateProfile(executor, userId, set);
  return readAccount(executor, userId);
}
