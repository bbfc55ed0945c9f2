/** Ends what a stranger may have in an account that its owner takes back: sessions, sign-ins that wait, the password, and mailed links. */
import { recoveryMs } from "#domain/periods.ts";
import type { Trx } from "../../db/transaction.ts";
import type { AuthDeps } from "./callers.ts";
import { endPendingSignIns } from "./factor-queries.ts";
import * as links from "./link-queries.ts";
import { nobodysHash } from "./passwords.ts";
import type { MadeLink } from "./person-links.ts";
import { makeLink } from "./person-links.ts";
import * as queries from "./queries.ts";

/** The caller has locked the person, and announces "session" after the commit. Returns how many sessions ended. */
export async function shutOut(trx: Trx, deps: AuthDeps, person: queries.Person): Promise<number> {
  const { id, password_hash: hash } = person;
  if (hash !== null) await queries.setPassword(trx, id, nobodysHash, deps.clock.now());
  const ended = await queries.revokeSessionsOf(trx, id, {}, new Date());
  await endPendingSignIns(trx, id, new Date());
  await links.deletePersonLinks(trx, id, ["confirm", "recover", "change-email"]);
  return ended;
}

/** A link with which the owner chooses a new password. */
export async function makeRecovery(trx: Trx, deps: AuthDeps, userId: string, lifeMs: number = recoveryMs): Promise<MadeLink> {
  return makeLink(trx, deps, { userId, purpose: "recover", lifeMs });
}
