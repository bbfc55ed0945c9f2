/**
 * The step between showing a first factor and having a session. Every way to sign in ends here, in its own transaction, so that a
 * second factor is asked for in this one place.
 */
import type { AuditDetails } from "#domain/audit.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { Caller } from "./callers.ts";
import type { Person } from "./queries.ts";
import * as queries from "./queries.ts";
import type { SignIn } from "./sessions.ts";
import { openSession } from "./sessions.ts";

/** ADMIN_EMAILS names the first admins; a person's address is one its owner has confirmed. */
function roleOf(deps: Pick<Deps, "config">, person: Person): Person["role"] {
  return deps.config.adminEmails.includes(person.email) ? "admin" : person.role;
}

type Factor = AuditDetails["sign_in.completed"]["factor"];

export async function completeSignIn(
  trx: Trx,
  deps: Pick<Deps, "config" | "clock">,
  { person, factor }: { person: Person; factor: Factor },
  caller: Caller,
): Promise<SignIn> {
  const user = await queries.updateUser(trx, person.id, { last_sign_in_at: deps.clock.now(), role: roleOf(deps, person) });
  const subject = person.id;
  if (user.role === "admin" && person.role !== "admin") {
    const details = { role: "admin", because: "named_in_admin_emails" } as const;
    await recordAct(trx, { actor: null, subject, action: "role.granted", network: null, details });
  }
  await recordAct(trx, { actor: subject, subject, action: "sign_in.completed", network: caller.network, details: { factor } });
  return openSession(trx, deps, { ...person, ...user }, caller);
}
