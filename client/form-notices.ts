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
 * Tells of forms that were sent or refused after they had waited. The contact page tells of its own; a tab nobody looks at
 * keeps quiet, for another one speaks, and what was refused is told of at every start until its writer has taken it back.
 * Nobody hears of what another person wrote.
 */
export function tellOfForms(openFeedback: () => void): () => void {
  async function tell(form: FormName, outcome: "sent" | "refused"): Promise<void> {
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

  async function tellOfRefused(): Promise<void> {
    const refused = (await listQueuedForms()).filter((queued) => queued.refusal && isOwn(queued));
    for (const form of new Set(refused.map(({ form }) => form))) void tell(form, "refused");
  }

  void tellOfRefused();
  const unsubscribe = sessionStore.subscribe(({ user }, { user: before }) => {
    if (user?.id !== before?.id) void tellOfRefused();
  });
  const unlisten = onFormOutcome((told) => isOwn(told) && void tell(told.form, told.outcome));
  return () => {
    unsubscribe();
    unlisten();
  };
}
