import { useCallback, useState } from "react";
import { api } from "#client/lib/api.ts";
import type { MailChoices } from "#contract/notifications.ts";
import { useSecurityReads } from "./security-news.ts";

export type MailChoicesState = { status: "loading" } | { status: "failed" } | { status: "known"; mails: MailChoices["mails"] };

/** Which optional mails the person wants. Read again when the page comes back to the front: a mail may have switched one off meanwhile. */
export function useMailChoices() {
  const [state, setState] = useState<MailChoicesState>({ status: "loading" });

  const look = useCallback(() => {
    api("GET /api/account/notifications").then(
      ({ mails }) => setState({ status: "known", mails }),
      // What was known is still shown when a later look fails.
      () => setState((before) => (before.status === "known" ? before : { status: "failed" })),
    );
  }, []);
  useSecurityReads(look);

  /** Throws what the call throws. */
  const choose = useCallback(async (kind: string, wanted: boolean) => {
    const { mails } = await api("PATCH /api/account/notifications", { body: { kind, wanted } });
    setState({ status: "known", mails });
  }, []);

  return { state, look, choose };
}
