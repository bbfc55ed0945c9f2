/** A person looks at where they are signed in, and ends sessions that are not this one. */
import { DomainError } from "#domain/errors.ts";
import { readDevice } from "#domain/user-agent.ts";
import type { OwnSession } from "../../contract/auth/security.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import type { Viewer } from "../../http/viewer.ts";
import type { AuthDeps } from "./callers.ts";
import * as queries from "./queries.ts";

const shownAtMost = 100;

type Asker = Pick<Viewer, "userId" | "sessionId"> & { network: string };

export async function listSessions(executor: Executor, { userId, sessionId }: Pick<Viewer, "userId" | "sessionId">): Promise<OwnSession[]> {
  const rows = await queries.selectSessionsOf(executor, userId, new Date(), shownAtMost);
  return rows.map((row) => ({
    id: row.id,
    current: row.id === sessionId,
    ...readDevice(row.user_agent),
    timeZone: row.time_zone,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.rotated_at.toISOString(),
  }));
}

async function recordEnd(trx: Trx, { userId, network }: Asker, sessions: number): Promise<void> {
  const event = { actor: userId, subject: userId, network, details: { reason: "signed_out_elsewhere", sessions } } as const;
  await recordAct(trx, { ...event, action: "session.ended" });
}

/** Throws `not_found` for a session that has ended or is another person's. */
export async function endOwnSession(deps: AuthDeps, asker: Asker, sessionId: string): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const ended = await queries.revokeSessionsOf(trx, asker.userId, { only: sessionId }, new Date());
    if (ended === 0) throw new DomainError("not_found", "There is no such session");
    await recordEnd(trx, asker, ended);
  });
  await announce(deps, asker.userId, "session");
}

/** Ends all of the person's sessions but the asker's own. Returns how many. */
export async function endOtherSessions(deps: AuthDeps, asker: Asker): Promise<number> {
  const ended = await inTransaction(deps.db, async (trx) => {
    const count = await queries.revokeSessionsOf(trx, asker.userId, { except: asker.sessionId }, new Date());
    if (count > 0) await recordEnd(trx, asker, count);
    return count;
  });
  if (ended > 0) await announce(deps, asker.userId, "session");
  return ended;
}
