/**
 * A sign-in that waits for its second factor, or for the decision whether to restore a deleted account. It is a row that gives no access, and
 * a token that names it. The token is valid once, for a few minutes, for that step only, in the browser that showed the first factor, and
 * while the password is the same. Uses wall time.
 */
import type { Selectable } from "kysely";
import { v7 as uuidv7 } from "uuid";
import type { AuditDetails } from "#domain/audit.ts";
import { addMilliseconds } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { factorWaitMs } from "#domain/periods.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { PendingSignIns } from "../../db/types-accounts.ts";
import type { Deps } from "../../deps.ts";
import { decodeUuid, encodeUuid, isSignatureOf, signText } from "../../http/secret-keys.ts";
import type { Caller } from "./callers.ts";
import type { SecondFactor } from "./factor-queries.ts";
import { findPendingSignIn, insertPendingSignIn, lockPendingSignIn, spendPendingSignIn } from "./factor-queries.ts";
import type { Person } from "./queries.ts";
import { findPerson } from "./queries.ts";

type Shown = AuditDetails["sign_in.completed"];
export type FirstFactor = Shown["factor"];

/** The first factor was right; the person has to show another. */
export interface PendingSignIn {
  token: string;
  methods: SecondFactor[];
}

/** Every factor was right; the person has to say whether they want their account back. */
export interface PendingRestore {
  token: string;
  deleteAt: Date;
}

type WaitsFor = "second factor" | "restoring";

const signed = (id: string, person: Person, { browser }: Pick<Caller, "browser">, waitsFor: WaitsFor) =>
  `${id}.${browser}.${person.password_hash}${waitsFor === "restoring" ? ".restoring" : ""}`;

export async function beginPendingSignIn(
  trx: Trx,
  deps: Pick<Deps, "config">,
  { person, factor, second, waitsFor }: Shown & { person: Person; waitsFor: WaitsFor },
  caller: Caller,
): Promise<string> {
  const now = new Date();
  const id = uuidv7();
  const times = { created_at: now, expires_at: addMilliseconds(now, factorWaitMs), used_at: null };
  await insertPendingSignIn(trx, { id, user_id: person.id, factor, second: second ?? null, ...times });
  return `${encodeUuid(id)}.${signText(deps.config, "pending-sign-in", signed(id, person, caller, waitsFor))}`;
}

export function signInExpired(): DomainError {
  return new DomainError("sign_in_expired", "This sign-in took too long. Sign in again");
}

/**
 * Throws `sign_in_expired` if the token is not ours, was used, is too old, is from another browser, or is for another step, and if the
 * password was changed since.
 */
export async function findPending(
  executor: Executor,
  deps: Pick<Deps, "config">,
  { token, waitsFor }: { token: string; waitsFor: WaitsFor },
  caller: Pick<Caller, "browser">,
): Promise<{ pending: Selectable<PendingSignIns>; person: Person }> {
  const [head = "", signature = "", ...rest] = token.split(".");
  const id = decodeUuid(head);
  const pending = id === undefined || rest.length > 0 ? undefined : await findPendingSignIn(executor, id, new Date());
  const person = pending && (await findPerson(executor, pending.user_id));
  if (!pending || !person || person.banned_at) throw signInExpired();
  if (!isSignatureOf(deps.config, "pending-sign-in", signed(pending.id, person, caller, waitsFor), signature)) throw signInExpired();
  return { pending, person };
}

/** What the person had shown when the sign-in began to wait. */
export function shownIn({ factor, second }: Selectable<PendingSignIns>): Shown {
  return { factor: factor as FirstFactor, ...(second === null ? {} : { second: second as SecondFactor }) };
}

/** Call it in the transaction that does the step, and `spendPending` after the step has succeeded. Throws `sign_in_expired`. */
export async function lockPending(trx: Trx, pendingId: string): Promise<void> {
  if (!(await lockPendingSignIn(trx, pendingId, new Date()))) throw signInExpired();
}

export async function spendPending(trx: Trx, pendingId: string): Promise<void> {
  await spendPendingSignIn(trx, pendingId, new Date());
}
