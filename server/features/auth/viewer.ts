import { createBatcher } from "../../db/batch.ts";
import type { Deps } from "../../deps.ts";
import type { App } from "../../http/app-type.ts";
import type { CheckSessions } from "../../http/held-connections.ts";
import type { ReadViewer } from "../../http/viewer.ts";
import type { Received } from "./queries.ts";
import { selectLiveSessions, setReceived } from "./queries.ts";
import { readAccessToken } from "./tokens.ts";

const sessionsAtOnce = 64;
const sessionsTogether = 16;
const never = new Date(0);

/**
 * Reads the session and the role of the caller: the session must be valid and the person not banned. Calls that arrive together share one
 * query. A second query records, once after each refresh, that the client has received its tokens.
 */
export function createReadViewer(app: App, deps: Pick<Deps, "db" | "arrivals">): ReadViewer {
  const findSession = createBatcher({
    limit: sessionsAtOnce,
    atOnce: 2,
    together: sessionsTogether,
    run: async (used: readonly Received[]) => {
      const ids = used.map(({ sessionId }) => sessionId);
      const rows = await selectLiveSessions(deps.db, ids, new Date());
      const bySession = new Map(rows.map((row) => [row.session_id, row]));
      const isNew = ({ sessionId, counter }: Received) => counter > (bySession.get(sessionId)?.received_counter ?? counter);
      const received = used.filter(isNew);
      if (received.length > 0) await setReceived(deps.db, received);
      return ids.map((id) => bySession.get(id));
    },
  });
  return async (accessToken) => {
    const claims = readAccessToken(app, accessToken);
    if (!claims) return null;
    const counter = claims.cnt ?? 0;
    const row = await deps.arrivals.expect(findSession({ sessionId: claims.sid, counter }));
    if (!row || row.user_id !== claims.sub) return null;
    // Clients refresh after a factor was shown. From then on a copy of the earlier token that somebody else may have allows nothing dangerous.
    const isSuperseded = counter < (row.received_counter ?? counter);
    const provedAt = isSuperseded ? never : row.proved_at;
    return { userId: row.user_id, sessionId: row.session_id, provedAt, role: row.role, entitling: row };
  };
}

/** Returns the roles of those sign-ins that are still valid, for connections that last longer than their access token. */
export function createSessionCheck(deps: Pick<Deps, "db">): CheckSessions {
  return async (sessionIds) => {
    const rows = await selectLiveSessions(deps.db, sessionIds, new Date());
    return new Map(rows.map((row) => [row.session_id, row.role]));
  };
}
