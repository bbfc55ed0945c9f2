import { useCallback, useState } from "react";
import { ApiProblem, api } from "#client/lib/api.ts";
import type { OwnSession } from "#contract/security.ts";
import { tellSecurityNews, useSecurityReads } from "./security-news.ts";

export type SessionsState = { status: "loading" } | { status: "failed" } | { status: "known"; sessions: OwnSession[]; readAt: Date };

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
  const [state, setState] = useState<SessionsState>({ status: "loading" });

  const look = useCallback(async () => {
    try {
      const { sessions } = await api("GET /api/account/sessions");
      setState({ status: "known", sessions, readAt: new Date() });
    } catch {
      // What was known is still shown when a later look fails.
      setState((before) => (before.status === "known" ? before : { status: "failed" }));
    }
  }, []);
  const read = useCallback(() => void look(), [look]);
  useSecurityReads(read);

  /** Takes the ended sessions off the list at once; the panels then read again. */
  const keep = useCallback((stays: (session: OwnSession) => boolean) => {
    setState((before) => (before.status === "known" ? { ...before, sessions: before.sessions.filter(stays) } : before));
    tellSecurityNews();
  }, []);
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

  return { state, look: read, end, endOthers };
}
