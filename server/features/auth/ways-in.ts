/** The ways in which a person can sign in. A mailed link is not one of them, because it only leads to a new password. */
import { DomainError } from "#domain/errors.ts";
import type { WaysIn } from "../../contract/security.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { findGoogle } from "./google-queries.ts";
import { lockPerson } from "./link-queries.ts";
import { selectPasskeys } from "./passkey-queries.ts";
import { findPerson } from "./queries.ts";

export async function readWaysIn(executor: Executor, userId: string): Promise<WaysIn> {
  const person = await findPerson(executor, userId);
  const google = await findGoogle(executor, userId);
  return {
    password: person !== undefined && person.password_hash !== null,
    google: google ? { email: google.email ?? "", linkedAt: google.linked_at.toISOString() } : null,
    passkeys: (await selectPasskeys(executor, userId)).length,
  };
}

/** How many ways there are. A person may have several of one kind. */
function countWays({ password, google, passkeys }: WaysIn): number {
  return Number(password) + Number(google !== null) + passkeys;
}

/**
 * Call it before you remove one of the person's ways to sign in, in the same transaction. It locks the person, so that two removals at once
 * can't remove the last two ways. Throws `last_way_in`.
 */
export async function refuseLastWay(trx: Trx, userId: string): Promise<void> {
  await lockPerson(trx, userId);
  if (countWays(await readWaysIn(trx, userId)) < 2)
    throw new DomainError("last_way_in", "This is the only way in which you can sign in. Add another one first");
}
