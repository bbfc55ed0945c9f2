import { useCallback } from "react";
import { ApiProblem, api } from "#client/lib/api.ts";
import type { OwnSession } from "#contract/auth/security.ts";
import { tellSecurityNews } from "./security-news.ts";
import { useRead } from "./use-read.ts";

const readSessions = async () => (await api("GET /api/account/sessions")).sessions;

/** Ends one session. One that has ended already is fine too. */
async function endOne(id: string): Promise<void> {
  try {
    await api("DELETE /api/account/sessions/:id", { params: { id } });
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== "not_found") throw error;
  }
}

/** Where the person is signed in. `end` and `endOthers` throw what their calls throw. */
export function useSessions() {
  const { state, look, change } = useRead(readSessions);

  /** Takes the ended sessions off the list at once; the panels then read again. */
  const keep = useCallback(
    (stays: (session: OwnSession) => boolean) => {
      change((sessions) => sessions.filter(stays));
      tellSecurityNews();
    },
    [change],
  );
  const end = useCallback(
    async (id: string) => {
      await endOne(id);
      keep((session) => session.id !== id);
    },
    [keep],
  );
  const endOthers = useCallback(async () => {
    const { ended } = await api("DELETE /api/account/sessions");
    keep((session) => session.current);
    return ended;
  }, [keep]);

  return { state, look, end, endOthers };
}
