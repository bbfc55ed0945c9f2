import i18next from "i18next";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "wouter";
import { Button } from "#client/components/button.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem, api } from "#client/lib/api.ts";
import { formatDate, formatNumber } from "#client/lib/format.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { paths } from "#client/paths.ts";
import { useSubscription } from "./subscription-store.ts";

const texts = ["trial", "common", "errors", "refusals"] as const;

/** The pages that show by themselves what has begun. From the others the way leads to the chat. */
const staying: readonly string[] = [paths.profile, paths.aiModels];

async function startTrial(): Promise<boolean> {
  const { t } = i18next;
  const loaded = i18next.loadNamespaces(texts);
  const refresh = () => useSubscription.getState().refresh();
  try {
    const { credits, endsAt } = await api("POST /api/billing/trial");
    await Promise.all([loaded, refresh()]);
    const amount = t("common:credits", { count: credits, formatted: formatNumber(credits, i18next.language) });
    const text = t("trial:started.text", { credits: amount, date: formatDate(endsAt, i18next.language) });
    showToast({ tone: "good", title: t("trial:started.title"), text });
    return true;
  } catch (error) {
    await loaded;
    const problem = error instanceof ApiProblem ? error : undefined;
    showToast({ tone: "danger", title: t("trial:failed"), text: problemText(problem?.code ?? "network", problem) });
    // Whoever can't have a trial is not offered one any more.
    if (problem) await refresh();
    return false;
  }
}

/** The button that starts the free trial, with one tap. */
export function StartTrial({ size = "medium", className }: { size?: "medium" | "small"; className?: string }) {
  const { t } = useTranslation("trial", { useSuspense: false });
  const [location, navigate] = useLocation();
  const [busy, setBusy] = useState(false);

  async function start(): Promise<void> {
    if (busy) return;
    setBusy(true);
    const begun = await startTrial();
    setBusy(false);
    if (begun && !staying.includes(location)) navigate(paths.aiModels);
  }

  const look = className === undefined ? {} : { className };
  return (
    <Button {...look} variant="primary" size={size} busy={busy} busyLabel={t("starting")} onClick={() => void start()}>
      {t("action")}
    </Button>
  );
}
