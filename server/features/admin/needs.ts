/** What waits for a team member, and what they do about it here. */
import type { NeedKind } from "#domain/needs.ts";
import { needKinds } from "#domain/needs.ts";
import type { Needs } from "../../contract/admin/needs.ts";
import { recordAct } from "../../db/audit.ts";
import { selectMembers } from "../../db/payer.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { askForFullCheck, readFullCheck } from "../billing/full-check.ts";
import { releaseStaleHolds } from "../credits/service.ts";
import type { Clerk } from "../team/service.ts";
import type { ListDeps } from "./needs-lists.ts";
import { needLists } from "./needs-lists.ts";
import { readPutOff } from "./put-off.ts";

/** What waits or, with `isPutOff`, what of it was put off. */
export async function readNeeds(deps: ListDeps, isPutOff: boolean): Promise<Needs> {
  const [putOff, check] = await Promise.all([readPutOff(deps.db, deps.clock.now()), readFullCheck(deps.db)]);
  const entriesOf = (kind: NeedKind) => putOff.flatMap((put) => (put.kind === kind ? [put.entry] : []));
  const lists = await Promise.all(
    needKinds.map(async (kind) => [kind, await needLists[kind](deps, { isPutOff, entries: entriesOf(kind) })] as const),
  );
  const checkingSince = check.done_at === null ? (check.asked_at?.toISOString() ?? null) : null;
  return { ...(Object.fromEntries(lists) as Pick<Needs, NeedKind>), putOff, checkingSince };
}

/** Has every account compared with the payment provider's. */
export async function checkEverythingAs({ db, clock }: Pick<Deps, "db" | "clock">, clerk: Clerk, reason: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await askForFullCheck(trx, clock.now());
    const act = { actor: clerk.userId, subject: null, network: clerk.network, reason };
    await recordAct(trx, { ...act, action: "full_check.asked", details: {} });
  });
}

/** Returns how many were released. The audit log gets an act for each account, so that the person's page shows it. */
export async function releaseHoldsAs(deps: Pick<Deps, "db" | "log" | "live" | "clock">, clerk: Clerk, reason: string): Promise<number> {
  const released = (await releaseStaleHolds(deps)).filter(({ isReleased }) => isReleased);
  const act = { actor: clerk.userId, action: "holds.released", network: clerk.network, reason } as const;
  for (const [payerId, holds] of Map.groupBy(released, (hold) => hold.payerId)) {
    const [subject = null] = await selectMembers(deps.db, payerId);
    await recordAct(deps.db, { ...act, subject, details: { holds: holds.length } });
  }
  return released.length;
}
