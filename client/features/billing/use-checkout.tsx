import i18next from "i18next";
import type { ReactNode } from "react";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { Late } from "#client/components/late.tsx";
import { showToast } from "#client/lib/interface-store.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { paths } from "#client/paths.ts";
import type { Wanted } from "./order-dialog.tsx";

export interface Checkout {
  /** Shows the order of a plan's price or of a pack; from there the person goes to pay. Signed-out people are sent to sign in first. */
  start: (priceId: string, kind?: Wanted["kind"]) => Promise<void>;
  /** The price or pack whose checkout is being created: its button shows the processing label. */
  processing: string | null;
  /** To be rendered on the page. */
  dialog: ReactNode;
}

/** The dialog with its texts. Only who orders needs either. */
async function loadDialog() {
  const { OrderDialog, orderTexts } = await import("./order-dialog.tsx");
  await i18next.loadNamespaces(orderTexts);
  return OrderDialog;
}

export function useCheckout(): Checkout {
  const { t } = i18next;
  const [location, navigate] = useLocation();
  // Undefined until something is wanted for the first time. Then the dialog stays, so that it can give the focus back when it closes.
  const [wanted, setWanted] = useState<Wanted | null>();
  const [processing, setProcessing] = useState<string | null>(null);

  useEffect(() => {
    // When a person goes back from the payment page, the browser may restore this page with the button still busy.
    const revive = (event: PageTransitionEvent) => {
      if (event.persisted) setProcessing(null);
    };
    addEventListener("pageshow", revive);
    return () => removeEventListener("pageshow", revive);
  }, []);

  async function start(priceId: string, kind: Wanted["kind"] = "plan"): Promise<void> {
    if (processing !== null) return;
    if (sessionStore.getState().status === "signed_in") return setWanted({ priceId, kind });
    // The texts may not be loaded when the button is clicked.
    await i18next.loadNamespaces("billing");
    showToast({ title: t("billing:checkout.authenticationRequired"), text: t("billing:checkout.signInFirst") });
    navigate(`${paths.auth}?return=${encodeURIComponent(location)}`);
  }

  const dialog = wanted !== undefined && (
    <Late load={loadDialog} wanted={wanted} onClose={() => setWanted(null)} processing={processing !== null} onProcessing={setProcessing} />
  );
  return { start, processing, dialog };
}
