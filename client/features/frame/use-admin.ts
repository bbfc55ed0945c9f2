import { useEffect, useState } from "react";
import { api } from "#client/lib/api.ts";

/** Spec §6: verify-admin decides who is an admin; support has its pages of the panel. After an error, or signed out, the answer is no. */
export function useAdmin(userId: string | null): boolean {
  const [adminId, setAdminId] = useState<string | null>(null);

  useEffect(() => {
    if (userId === null) return;
    let current = true;
    api("POST /api/functions/verify-admin")
      .then(({ isAdmin, team }) => {
        if (current) setAdminId(isAdmin || team ? userId : null);
      })
      .catch((error: unknown) => {
        console.warn("Could not check whether this account is an admin.", error);
        if (current) setAdminId(null);
      });
    return () => {
      current = false;
    };
  }, [userId]);

  return userId !== null && adminId === userId;
}
