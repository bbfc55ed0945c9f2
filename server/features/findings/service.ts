/** Findings of the checks: written once for each kind and subject, counted when found again, and resolved when repaired or gone. */
import { sql } from "kysely";
import type { Checker, Finding, FindingKind, ResolvedBy } from "#domain/findings.ts";
import type { Executor } from "../../db/transaction.ts";

/**
 * Writes a finding, which is resolved at once if `repairedBy` says who repaired it. One that was resolved is open again if it is found again,
 * except if a person has closed it.
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
      resolved_at = case when known.resolved_by = 'person' then known.resolved_at else excluded.resolved_at end,
      resolved_by = case when known.resolved_by = 'person' then known.resolved_by else excluded.resolved_by end`.execute(executor);
}

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
    .set({ resolved_at: now, resolved_by: "itself" satisfies ResolvedBy })
    .where("resolved_at", "is", null)
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
    .set({ resolved_at: now, resolved_by: "itself" satisfies ResolvedBy })
    .where("resolved_at", "is", null)
    .where("kind", "in", kinds)
    .where("subject", "in", subjects)
    .execute();
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
