/** Findings of the checks: written once for each kind and subject, counted when found again, and resolved when repaired or gone. */
import { sql } from "kysely";
import { DomainError } from "#domain/errors.ts";
import type { Checker, Finding, FindingKind, ResolvedBy } from "#domain/findings.ts";
import { recordAct } from "../../db/audit.ts";
import type { Db } from "../../db/database.ts";
import { selectMembers } from "../../db/payer.ts";
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";

const staysClosed = sql`known.resolved_by = 'person' and known.details = excluded.details`;

/**
 * Writes a finding, which is resolved at once if `repairedBy` says who repaired it. One that was resolved is open again if it is found again. One
 * that a person has closed stays closed while the same is found, and is open again if it differs, or if a check had not found it in between
 * (decision 106).
 */
export async function recordFinding(executor: Executor, finding: Omit<Finding, "isRepaired">, repairedBy: Checker | null, now: Date) {
  const resolvedAt = repairedBy === null ? null : now;
  await sql`insert into findings as known
      (kind, subject, billing_account_id, details, first_seen_at, last_seen_at, resolved_at, resolved_by)
    values (${finding.kind}, ${finding.subject}, ${finding.payerId}, ${JSON.stringify(finding.details)}::jsonb, ${now}, ${now},
      ${resolvedAt}, ${repairedBy})
    on conflict (kind, subject) do update set
      times_seen = known.times_seen + 1,
      last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at),
      details = excluded.details,
      billing_account_id = coalesce(excluded.billing_account_id, known.billing_account_id),
      resolved_at = case when ${staysClosed} then known.resolved_at else excluded.resolved_at end,
      resolved_by = case when ${staysClosed} then known.resolved_by else excluded.resolved_by end`.execute(executor);
}

/** What is open, and what a person has closed: once that is gone, it is open again if it is found again. */
const isOpenOrClosedByPerson = sql<boolean>`(resolved_at is null or resolved_by = 'person')`;
const asGone = (now: Date) => ({
  resolved_at: sql<Date>`coalesce(resolved_at, ${now})`,
  resolved_by: "itself" satisfies ResolvedBy as ResolvedBy,
});

/** Resolves the open findings of these kinds that a check of the wallets, which looked for them all, has not found any more. */
export async function resolveGone(
  executor: Executor,
  kinds: readonly FindingKind[],
  walletIds: readonly string[],
  found: readonly string[],
  now: Date,
): Promise<void> {
  await executor
    .updateTable("findings")
    .set(asGone(now))
    .where(isOpenOrClosedByPerson)
    .where("kind", "in", kinds)
    .where("billing_account_id", "in", (e) =>
      e.selectFrom("wallets").select("billing_account_id").where(sql<boolean>`id = any (${walletIds}::uuid[])`),
    )
    .where(sql<boolean>`subject <> all (${found}::text[])`)
    .execute();
}

/** Resolves the open findings of these kinds about these subjects: a check has looked for them and not found them any more. */
export async function resolveSubjects(executor: Executor, kinds: readonly FindingKind[], subjects: readonly string[], now: Date) {
  await executor
    .updateTable("findings")
    .set(asGone(now))
    .where(isOpenOrClosedByPerson)
    .where("kind", "in", kinds)
    .where("subject", "in", subjects)
    .execute();
}

/** Resolves the open findings of this kind about all other subjects: a check has looked for all of them, and found these. */
export async function resolveOthers(executor: Executor, kind: FindingKind, found: readonly string[], now: Date): Promise<void> {
  const others = executor.updateTable("findings").set(asGone(now)).where(isOpenOrClosedByPerson).where("kind", "=", kind);
  await others.where(sql<boolean>`subject <> all (${found}::text[])`).execute();
}

/** Open findings, oldest first, of the account or, without one, of all. */
export async function listOpenFindings(executor: Executor, limit: number, payerId?: string) {
  return executor
    .selectFrom("findings")
    .selectAll()
    .where("resolved_at", "is", null)
    .$if(payerId !== undefined, (query) => query.where("billing_account_id", "=", payerId ?? null))
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Who closed the finding with this subject last; null: nobody of the team, or somebody who has left. */
async function selectCloser(executor: Executor, { kind, subject }: { kind: FindingKind; subject: string }): Promise<string | null> {
  const { rows } = await sql<{ by: string | null }>`select i.subject as by from audit_events e
      left join audit_people p on p.id = e.actor
      left join identities i on i.user_id = p.user_id and i.kind = 'email'
    where e.action = 'finding.closed' and coalesce(e.details ->> 'eventId', e.details ->> 'subject') = ${subject}
      and e.details ->> 'kind' = ${kind}
    order by e.id desc limit 1`.execute(executor);
  return rows[0]?.by ?? null;
}

/** A team member has dealt with it. Throws `not_found`, and `finding_closed`, with who and when, if it is not open any more. */
export async function closeFindingAs(
  db: Db,
  clerk: { userId: string; network: string },
  id: string,
  reason: string,
  now: Date,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const columns = ["kind", "subject", "billing_account_id", "resolved_at", "resolved_by"] as const;
    const known = trx.selectFrom("findings").select(columns).where("id", "=", id);
    // If two admins do this at once, the second waits here for the first.
    const finding = await known.forUpdate().executeTakeFirst();
    if (!finding) throw new DomainError("not_found", "There is no such finding");
    if (finding.resolved_at !== null) {
      const by = finding.resolved_by === "person" ? await selectCloser(trx, finding) : null;
      throw new DomainError("finding_closed", "This is closed already", { since: finding.resolved_at.toISOString(), ...(by && { by }) });
    }
    await closeFinding(trx, id, now);
    const details = { kind: finding.kind, subject: finding.subject };
    const { billing_account_id: payerId } = finding;
    const [subject = null] = payerId === null ? [] : await selectMembers(trx, payerId);
    await recordAct(trx, { actor: clerk.userId, subject, action: "finding.closed", network: clerk.network, details, reason });
  });
}

/** An operator has dealt with it. False if there is no such open finding. */
export async function closeFinding(executor: Executor, id: string, now: Date): Promise<boolean> {
  const result = await executor
    .updateTable("findings")
    .set({ resolved_at: now, resolved_by: "person" satisfies ResolvedBy })
    .where("id", "=", id)
    .where("resolved_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** By subject, of which kind a finding about it is open. */
export async function listOpenSubjects(executor: Executor, kinds: readonly FindingKind[]): Promise<Map<string, FindingKind>> {
  const rows = await executor
    .selectFrom("findings")
    .select(["subject", "kind"])
    .where("resolved_at", "is", null)
    .where("kind", "in", kinds)
    .execute();
  return new Map(rows.map(({ subject, kind }) => [subject, kind]));
}
