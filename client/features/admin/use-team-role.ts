import { useEffect, useState } from "react";
import { api } from "#client/lib/api.ts";
import type { TeamRole } from "#domain/team.ts";

interface Known {
  userId: string;
  role: TeamRole | null;
}

/** Undefined while the server is asked; null: not of the team, or nobody is signed in, or the server could not be asked (spec §6). */
export function useTeamRole(userId: string | null): TeamRole | null | undefined {
  const [known, setKnown] = useState<Known>();
  useEffect(() => {
    if (userId === null) return;
    let current = true;
    api("POST /api/functions/verify-admin").then(
      ({ team }) => current && setKnown({ userId, role: team }),
      (error: unknown) => {
        console.warn("Could not check whether this account is of the team.", error);
        if (current) setKnown({ userId, role: null });
      },
    );
    return () => {
      current = false;
    };
  }, [userId]);
  if (userId === null) return null;
  return known?.userId === userId ? known.role : undefined;
}
