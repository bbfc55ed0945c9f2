/** Gives people roles in the team, and takes them. */
import { DomainError } from "#domain/errors.ts";
import type { Role } from "#domain/team.ts";
import type { SetRole } from "../../contract/admin/team.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import type { Clerk } from "../team/service.ts";
import { lockAdmins } from "../team/service.ts";
import type { AuthDeps } from "./callers.ts";
import { normalizeEmail } from "./callers.ts";
import { findPersonByEmail, updateUser } from "./queries.ts";
import { forgetViews } from "./team-queries.ts";

async function recordRole(trx: Trx, clerk: Clerk, subject: string, change: { was: Role; role: Role; reason: string }): Promise<void> {
  const { was, role, reason } = change;
  const event = { actor: clerk.userId, subject, network: clerk.network, reason };
  if (was !== "user") await recordAct(trx, { ...event, action: "role.taken", details: { role: was } });
  if (role !== "user") await recordAct(trx, { ...event, action: "role.granted", details: { role, because: "by_admin" } });
}

/**
 * Gives the person with this address a role, or takes theirs. Throws `not_found`, `conflict` if the role is not what the admin saw,
 * `last_admin`, and `named_admin` for an admin of ADMIN_EMAILS, who would get the role back at the next sign-in.
 */
export async function setRole(deps: AuthDeps, clerk: Clerk, { email, was, role, reason }: SetRole): Promise<void> {
  const subject = await inTransaction(deps.db, async (trx) => {
    // Locked before the person is read, so that if two admins take each other's role at once, the second sees what the first did.
    const admins = await lockAdmins(trx);
    const person = await findPersonByEmail(trx, normalizeEmail(email));
    if (!person || person.delete_at !== null) throw new DomainError("not_found", "Nobody has this address");
    if (person.role !== was) throw new DomainError("conflict", "Somebody has changed this role meanwhile");
    if (role === was) return person.id;
    if (was === "admin" && deps.config.adminEmails.includes(person.email))
      throw new DomainError("named_admin", "ADMIN_EMAILS names this address, which would give the role back at the next sign-in");
    if (was === "admin" && admins.includes(person.id) && admins.length === 1)
      throw new DomainError("last_admin", "This is the only admin. Make somebody else an admin first");
    await updateUser(trx, person.id, { role });
    if (role === "user") await forgetViews(trx, person.id);
    await recordRole(trx, clerk, person.id, { was, role, reason });
    return person.id;
  });
  await announce(deps, subject, "session");
}
