import type { AuditAction } from "#domain/audit.ts";
import type { Executor } from "../../db/transaction.ts";

export async function selectAccount(executor: Executor, userId: string) {
  return executor
    .selectFrom("users")
    .innerJoin("identities", "identities.user_id", "users.id")
    .select(["users.id", "subject as email", "verified_at", "avatar_url", "users.created_at", "last_sign_in_at"])
    .where("users.id", "=", userId)
    .where("kind", "=", "email")
    .executeTakeFirstOrThrow();
}

/** Events of the audit log about a person, the newest first. A network that belongs to somebody else, such as an admin's, is not among it. */
export async function selectActivity(
  executor: Executor,
  userId: string,
  { actions, before, limit }: { actions: readonly AuditAction[]; before: string | undefined; limit: number },
) {
  return executor
    .selectFrom("audit_people")
    .innerJoin("audit_events", "audit_events.subject", "audit_people.id")
    .leftJoin("audit_origins", (join) =>
      join.onRef("audit_origins.event_id", "=", "audit_events.id").onRef("audit_origins.user_id", "=", "audit_people.user_id"),
    )
    .select(["audit_events.id", "at", "action", "details", "network"])
    .where("audit_people.user_id", "=", userId)
    .where("action", "in", actions)
    .$if(before !== undefined, (query) => query.where("audit_events.id", "<", before ?? ""))
    .orderBy("audit_events.id", "desc")
    .limit(limit)
    .execute();
}
