import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem, api } from "#client/lib/api.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { showFactor, withStepUp } from "#client/lib/step-up.ts";
import { tellSecurityNews } from "./security-news.ts";

/** Goes on when Google has sent somebody back to a page of their account: proves that it is them (step-up), or links Google. */
export function GoogleReturn() {
  const { t } = useTranslation(["account", "errors", "refusals"]);
  const [search, setSearch] = useSearchParams();
  const [fault, setFault] = useState<string>();
  const outcome = search.get("google");
  // Google's answer can be used only once.
  const begun = useRef(false);

  useEffect(() => {
    if (outcome === null || begun.current) return;
    begun.current = true;
    setSearch(
      (before) => {
        before.delete("google");
        return before;
      },
      { replace: true },
    );
    async function goOn(): Promise<void> {
      if (outcome === "step-up") {
        await showFactor({ google: true });
        showToast({ tone: "good", title: t("account:stepUp.proved"), text: t("account:stepUp.provedText") });
      } else if (outcome === "link") {
        if (await withStepUp(() => api("POST /api/account/google"))) showToast({ tone: "good", title: t("account:waysIn.linked") });
      } else setFault(outcome ?? undefined);
    }
    goOn()
      .catch((error: unknown) => setFault(error instanceof ApiProblem ? error.code : "network"))
      .finally(tellSecurityNews);
  }, [outcome, setSearch, t]);

  return fault === undefined ? null : <Alert tone="danger">{problemText(fault)}</Alert>;
}
