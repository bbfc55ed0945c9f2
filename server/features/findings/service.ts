/** Findings of the checks: written once for each kind and subject, counted when found again, and resolved when repaired or gone. */
import type { RawBuilder, Selectable } from "kysely";
import { sql } from "kysely";
import { DomainError } from "#domain/errors.ts";
import type { Checker, Finding, FindingKind, ResolvedBy } from "#domain/findings.ts";
import { recordAct } from "../../db/audit.ts";
import type { Db } from "../../db/database.ts";
import { selectMembers } from "../../db/payer.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Findings } from "../../db/types-work.ts";

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

/** Selects who closed the finding with this subject last, and why. `by`: null if that was nobody of the team, or somebody who has left. */
export const lastClosing = (
  kind: RawBuilder<unknown>,
  subject: RawBuilder<unknown>,
) => sql`select i.subject as by, r.reason from audit_events e
    left join audit_reasons r on r.event_id = e.id
    left join audit_people p on p.id = e.actor
    left join identities i on i.user_id = p.user_id and i.kind = 'email'
  where e.action = 'finding.closed' and coalesce(e.details ->> 'eventId', e.details ->> 'subject') = ${subject}
    and e.details ->> 'kind' = ${kind}
  order by e.id desc limit 1`;

async function selectCloser(executor: Executor, { kind, subject }: { kind: FindingKind; subject: string }): Promise<string | null> {
  const { rows } = await sql<{ by: string | null }>`${lastClosing(sql`${kind}`, sql`${subject}`)}`.execute(executor);
  return rows[0]?.by ?? null;
}

/** The team member who acts. */
interface Clerk {
  userId: string;
  network: string;
}
type FindingOf = Pick<Selectable<Findings>, "kind" | "subject" | "billing_account_id">;
type Act = "finding.closed" | "finding.reopened";

async function record(
  trx: Trx,
  action: Act,
  { kind, subject, billing_account_id: payerId }: FindingOf,
  { userId, network }: Clerk,
  reason: string,
): Promise<void> {
  const [about = null] = payerId === null ? [] : await selectMembers(trx, payerId);
  await recordAct(trx, { actor: userId, subject: about, action, network, details: { kind, subject }, reason });
}

/** Of two team members who act on it at once, the second waits here for the first. */
async function selectForAct(trx: Trx, id: string) {
  const columns = ["kind", "subject", "billing_account_id", "resolved_at", "resolved_by"] as const;
  const finding = await trx.selectFrom("findings").select(columns).where("id", "=", id).forUpdate().executeTakeFirst();
  if (!finding) throw new DomainError("not_found", "There is no such finding");
  return finding;
}

/** Closes a finding that a team member has dealt with. Throws `not_found`, and `finding_closed`, with who and when, if it is not open. */
export async function closeFindingAs(db: Db, clerk: Clerk, id: string, reason: string, now: Date): Promise<void> {
  await inTransaction(db, async (trx) => {
    const finding = await selectForAct(trx, id);
    if (finding.resolved_at !== null) {
      const by = finding.resolved_by === "person" ? await selectCloser(trx, finding) : null;
      throw new DomainError("finding_closed", "This is closed already", { since: finding.resolved_at.toISOString(), ...(by && { by }) });
    }
    await closeFinding(trx, id, now);
    await record(trx, "finding.closed", finding, clerk, reason);
  });
}

/** Opens a finding again that a team member closed. Throws `not_found`, and `conflict` if it is not closed by somebody any more. */
export async function reopenFindingAs(db: Db, clerk: Clerk, id: string, reason: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const finding = await selectForAct(trx, id);
    if (finding.resolved_by !== "person") throw new DomainError("conflict", "Nobody has closed this, or it is open again");
    await trx.updateTable("findings").set({ resolved_at: null, resolved_by: null }).where("id", "=", id).execute();
    await record(trx, "finding.reopened", finding, clerk, reason);
  });
}

/** Closes a finding that somebody has dealt with. False if there is no such open finding. */
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
