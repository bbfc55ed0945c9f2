/**
 * The step between showing a first factor and having a session. Every way to sign in ends here, in its own transaction, so that a
 * second factor is asked for in this one place.
 */
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

export async function completeSignIn(trx: Trx, deps: Pick<Deps, "config" | "clock">, person: Person, caller: Caller): Promise<SignIn> {
  const user = await queries.updateUser(trx, person.id, { last_sign_in_at: deps.clock.now(), role: roleOf(deps, person) });
  return openSession(trx, deps, { ...person, ...user }, caller.userAgent);
}
