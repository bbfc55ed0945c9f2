import { useEffect, useState } from "react";
import { ApiProblem, api } from "#client/lib/api.ts";
import { openInvoice } from "./open-invoice.ts";

/** `failed` carries the code of the refusal. */
export type PortalState = { status: "idle" } | { status: "opening" } | { status: "failed"; code: string };

/** Opens the payment portal: cards, invoices, cancelling. Or, with an invoice, the page where that is paid. */
export function usePortal(): { state: PortalState; open: (unpaidInvoiceId?: string) => Promise<void> } {
  const [state, setState] = useState<PortalState>({ status: "idle" });

  useEffect(() => {
    // When a person goes back, the browser may restore this page with the button still busy.
    const revive = (event: PageTransitionEvent) => {
      if (event.persisted) setState({ status: "idle" });
    };
    addEventListener("pageshow", revive);
    return () => removeEventListener("pageshow", revive);
  }, []);

  async function open(unpaidInvoiceId?: string): Promise<void> {
    if (state.status === "opening") return;
    setState({ status: "opening" });
    try {
      if (unpaidInvoiceId !== undefined) return await openInvoice(unpaidInvoiceId, "pay");
      const { url } = await api("POST /api/billing/portal");
      window.location.assign(url);
    } catch (error) {
      setState({ status: "failed", code: error instanceof ApiProblem ? error.code : "network" });
    }
  }

  return { state, open };
}
