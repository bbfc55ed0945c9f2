import { useEffect, useState } from "react";
import { api } from "#client/lib/api.ts";

/** Spec §6: an admin is who verify-admin says; on an error, or signed out, nobody is. */
export function useAdmin(userId: string | null): boolean {
  const [adminId, setAdminId] = useState<string | null>(null);

  useEffect(() => {
    if (userId === null) return;
    let current = true;
    api("POST /api/functions/verify-admin")
      .then(({ isAdmin }) => {
        if (current) setAdminId(isAdmin ? userId : null);
      })
      .catch((error: unknown) => {
        console.warn("Whether this account is an admin's could not be checked.", error);
        if (current) setAdminId(null);
      });
    return () => {
      current = false;
    };
  }, [userId]);

  return userId !== null && adminId === userId;
}
