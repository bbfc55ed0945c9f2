import i18next from "i18next";
import { navigate } from "wouter/use-browser-location";
import { showToast } from "./lib/interface-store.ts";
import { sessionStore } from "./lib/session-store.ts";
import type { FormName } from "./offline/form-drafts.ts";
import { listQueuedForms } from "./offline/form-queue.ts";
import { onFormOutcome } from "./offline/form-sender.ts";
import { paths } from "./paths.ts";

const namespaces = ["contact", "feedback"] as const;

/**
 * Shows a toast when a queued form was sent or refused. The contact page shows its own message. A tab in the background shows
 * nothing, because another tab does. A refused form is mentioned at every start until its writer has opened it again. Nobody is
 * told about another person's form.
 */
export function watchFormOutcomes(openFeedback: () => void): () => void {
  async function showOutcome(form: FormName, outcome: "sent" | "refused"): Promise<void> {
    if (document.visibilityState !== "visible" || (form === "contact" && location.pathname === paths.contact)) return;
    await i18next.loadNamespaces([...namespaces]);
    const t = i18next.getFixedT(null, form === "contact" ? "contact" : "feedback");
    if (outcome === "sent") {
      showToast({ tone: "good", title: t("sent.title"), text: t(form === "contact" ? "sent.later" : "sent.text") });
      return;
    }
    const open = form === "contact" ? () => navigate(paths.contact) : openFeedback;
    showToast({ tone: "danger", title: t("refused.title"), text: t("refused.text"), action: { label: t("refused.action"), run: open } });
  }

  const isOwn = ({ owner }: { owner: string | null }) => owner === (sessionStore.getState().user?.id ?? null);

  async function showRefused(): Promise<void> {
    const refused = (await listQueuedForms()).filter((queued) => queued.refusal && isOwn(queued));
    for (const form of new Set(refused.map(({ form }) => form))) void showOutcome(form, "refused");
  }

  void showRefused();
  const unsubscribe = sessionStore.subscribe(({ user }, { user: before }) => {
    if (user?.id !== before?.id) void showRefused();
  });
  const unlisten = onFormOutcome((told) => isOwn(told) && void showOutcome(told.form, told.outcome));
  return () => {
    unsubscribe();
    unlisten();
  };
}
