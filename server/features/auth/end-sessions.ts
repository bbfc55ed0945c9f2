/** An operator ends sign-ins. The next call with one is refused; streams and sockets that are open end within a minute. */

import { recordAct } from "../../db/audit.ts";
import type { Db } from "../../db/database.ts";
import { inTransaction } from "../../db/transaction.ts";
import * as queries from "./queries.ts";

const sessionsAtOnce = 5_000;

/** Ends all sign-ins of the person with this address. Returns how many; undefined if nobody has the address. */
export async function endSessionsOf(db: Db, email: string): Promise<number | undefined> {
  return inTransaction(db, async (trx) => {
    const person = await queries.findPersonByEmail(trx, email);
    if (!person) return undefined;
    const sessions = await queries.revokeSessionsOf(trx, person.id, {}, new Date());
    const event = { actor: null, subject: person.id, network: null, details: { reason: "by_operator", sessions } } as const;
    if (sessions > 0) await recordAct(trx, { ...event, action: "session.ended" });
    return sessions;
  });
}

/** Ends all sign-ins there are, a few thousand in a transaction. Returns how many. */
export async function endEverySession(db: Db): Promise<number> {
  for (let ended = 0; ; ) {
    const sessions = await inTransaction(db, async (trx) => {
      const count = await queries.revokeSessions(trx, sessionsAtOnce, new Date());
      const event = { actor: null, subject: null, network: null, details: { reason: "by_operator", sessions: count } } as const;
      if (count > 0) await recordAct(trx, { ...event, action: "session.ended" });
      return count;
    });
    if (sessions === 0) return ended;
    ended += sessions;
  }
}
