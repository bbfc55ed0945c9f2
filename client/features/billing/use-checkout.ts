import i18next from "i18next";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { ApiProblem, api } from "#client/lib/api.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { paths } from "#client/paths.ts";

export interface Checkout {
  /** Creates a checkout for a plan's price or a pack and opens it. Signed-out people are sent to sign in first. */
  start: (priceId: string, kind?: "plan" | "pack") => Promise<void>;
  /** The price or pack whose checkout is being created: its button shows the processing label. */
  processing: string | null;
}

/** Needed only by toasts, so they are not loaded with the page. */
const texts = ["billing", "errors", "refusals"] as const;

export function useCheckout(): Checkout {
  const { t } = i18next;
  const [location, navigate] = useLocation();
  const [processing, setProcessing] = useState<string | null>(null);

  useEffect(() => void i18next.loadNamespaces(texts), []);
  useEffect(() => {
    // When a person goes back from the payment page, the browser may restore this page with the button still busy.
    const revive = (event: PageTransitionEvent) => {
      if (event.persisted) setProcessing(null);
    };
    addEventListener("pageshow", revive);
    return () => removeEventListener("pageshow", revive);
  }, []);

  async function start(priceId: string, kind: "plan" | "pack" = "plan"): Promise<void> {
    if (processing !== null) return;
    if (sessionStore.getState().status !== "signed_in") {
      // The texts may not be loaded when the button is clicked.
      await i18next.loadNamespaces(texts);
      showToast({ title: t("billing:checkout.authenticationRequired"), text: t("billing:checkout.signInFirst") });
      navigate(`${paths.auth}?return=${encodeURIComponent(location)}`);
      return;
    }
    setProcessing(priceId);
    try {
      const { url } = await (kind === "plan"
        ? api("POST /api/functions/create-checkout", { body: { priceId } })
        : api("POST /api/billing/packs/checkout", { body: { pack: priceId } }));
      if (!url) {
        await i18next.loadNamespaces(texts);
        throw new Error(t("billing:checkout.noUrl"), { cause: t("billing:checkout.noUrlAdvice") });
      }
      window.location.assign(url);
    } catch (error) {
      await i18next.loadNamespaces(texts);
      setProcessing(null);
      const { problemText } = await import("#client/i18n/problem-text.ts");
      const known = error instanceof ApiProblem ? problemText(error.code, error) : undefined;
      const own = error instanceof Error && error.name === "Error" ? error : undefined;
      const failed = t("billing:checkout.failedText", { message: known ?? own?.message ?? problemText("network") });
      // The specification's sentence first. If it doesn't say what to do, a second line does.
      const text = typeof own?.cause === "string" ? `${failed}\n${own.cause}` : failed;
      showToast({ tone: "danger", title: t("billing:checkout.failed"), text });
    }
  }

  return { start, processing };
}
