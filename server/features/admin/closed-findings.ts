/** What somebody of the team has closed, so that it can be opened again. */
import { sql } from "kysely";
import type { ClosedFindings } from "../../contract/admin/needs.ts";
import type { Executor } from "../../db/transaction.ts";
import { lastClosing } from "../findings/service.ts";
import { personOf } from "./needs-lists.ts";

const most = 50;

type Row = Omit<ClosedFindings["rows"][number], "closedAt"> & { closedAt: Date };

/** The latest first. Findings about transfers have no button that closes them. */
export async function readClosedFindings(executor: Executor): Promise<ClosedFindings> {
  const { rows } = await sql<Row>`
    select f.id, f.kind, f.subject, f.resolved_at as "closedAt", closing.by, closing.reason, person.user_id as "userId", person.email
    from (select * from findings where resolved_by = 'person' order by resolved_at desc, id desc limit ${most + 1}) f
    left join lateral (${lastClosing(sql`f.kind`, sql`f.subject`)}) closing on true
    ${personOf(sql`f.billing_account_id`)}
    order by f.resolved_at desc, f.id desc`.execute(executor);
  return { rows: rows.slice(0, most).map((row) => ({ ...row, closedAt: row.closedAt.toISOString() })), isMore: rows.length > most };
}
