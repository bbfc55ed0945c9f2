import { useTranslation } from "react-i18next";
import { useAct } from "#client/components/use-act.ts";
import { ApiProblem } from "#client/lib/api.ts";
import type { InboxPage } from "#contract/admin/inbox.ts";

/** The message on the page. */
export interface Shown {
  /** Reads it again. */
  look: () => Promise<void>;
  show: (page: InboxPage) => void;
}

/** Runs an act. If somebody else was first it shows what they did, and says so. */
export function useInboxAct({ look, show }: Shown) {
  const { t } = useTranslation("inbox");
  const act = useAct<"act">();
  const run = (call: () => Promise<InboxPage>) =>
    act.run(
      "act",
      async () => {
        try {
          show(await call());
        } catch (error) {
          if (error instanceof ApiProblem && error.code === "conflict") await look();
          throw error;
        }
      },
      (error) => (error instanceof ApiProblem && error.code === "conflict" ? t("conflict") : undefined),
    );
  return { ...act, run };
}
