import { create } from "zustand";
import type { SubscriptionCheck } from "#contract/billing.ts";
import { useSubscription } from "./subscription-store.ts";

export type Unpaid = NonNullable<SubscriptionCheck["unpaid"]>;

/** The invoice whose notice the person closed. It lasts for the visit, and the next unpaid invoice is shown again. */
const hiddenKey = "unpaidHidden";

function hiddenBefore(): string | null {
  try {
    return sessionStorage.getItem(hiddenKey);
  } catch {
    return null;
  }
}

const useHidden = create<{ invoiceId: string | null }>(() => ({ invoiceId: hiddenBefore() }));

export function hideUnpaid(invoiceId: string): void {
  useHidden.setState({ invoiceId });
  try {
    sessionStorage.setItem(hiddenKey, invoiceId);
  } catch {
    // If storage is blocked, the notice is shown again at the next full load.
  }
}

/** What the person owes and has to be told of; null if nothing. Pushed changes of the subscription keep it up to date. */
export function useUnpaid(): Unpaid | null {
  const unpaid = useSubscription(({ check }) => check?.unpaid ?? null);
  const hidden = useHidden(({ invoiceId }) => invoiceId);
  return unpaid && unpaid.invoiceId !== hidden ? unpaid : null;
}
