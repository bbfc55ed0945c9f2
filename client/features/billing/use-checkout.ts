import i18next from "i18next";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { ApiProblem, api } from "#client/lib/api.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { paths } from "#client/paths.ts";

export interface Checkout {
  /** Creates a checkout for the price and goes to it; signed-out people go to sign in first. */
  start: (priceId: string) => Promise<void>;
  /** The price whose checkout is being created: its button shows the processing label. */
  processing: string | null;
}

/** Nothing that is drawn needs them, and most readers never do. */
const texts = ["billing", "errors"] as const;

export function useCheckout(): Checkout {
  const { t } = i18next;
  const [location, navigate] = useLocation();
  const [processing, setProcessing] = useState<string | null>(null);

  useEffect(() => void i18next.loadNamespaces(texts), []);
  useEffect(() => {
    // Coming back from the payment page, the browser may show this page as it was left: in the middle of leaving.
    const revive = (event: PageTransitionEvent) => {
      if (event.persisted) setProcessing(null);
    };
    addEventListener("pageshow", revive);
    return () => removeEventListener("pageshow", revive);
  }, []);

  async function start(priceId: string): Promise<void> {
    if (processing !== null) return;
    if (sessionStore.getState().status !== "signed_in") {
      // A click may come before they have.
      await i18next.loadNamespaces(texts);
      showToast({ title: t("billing:checkout.authenticationRequired"), text: t("billing:checkout.signInFirst") });
      navigate(`${paths.auth}?return=${encodeURIComponent(location)}`);
      return;
    }
    setProcessing(priceId);
    try {
      const { url } = await api("POST /api/functions/create-checkout", { body: { priceId } });
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
      // The specification's sentence first; where it does not say what to do, that stands on a line of its own.
      const text = typeof own?.cause === "string" ? `${failed}\n${own.cause}` : failed;
      showToast({ tone: "danger", title: t("billing:checkout.failed"), text });
    }
  }

  return { start, processing };
}
