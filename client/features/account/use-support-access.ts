import { useCallback } from "react";
import { api } from "#client/lib/api.ts";
import type { SupportAccessDays } from "#domain/support-access.ts";
import { tellSecurityNews } from "./security-news.ts";
import { useRead } from "./use-read.ts";

const readAccess = () => api("GET /api/account/support-access");

/** Whether the team may read the person's conversations, or asks to. */
export function useSupportAccess() {
  const { state, look, change } = useRead(readAccess);

  /** Throws what the call throws. */
  const give = useCallback(
    async (days: SupportAccessDays) => {
      const access = await api("PUT /api/account/support-access", { body: { days } });
      change(() => access);
      tellSecurityNews();
    },
    [change],
  );
  const end = useCallback(async () => {
    const access = await api("DELETE /api/account/support-access");
    change(() => access);
    tellSecurityNews();
  }, [change]);

  return { state, look, give, end };
}
