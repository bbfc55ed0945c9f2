import { useCallback, useEffect, useState } from "react";
import type { DiscountEligibility } from "#contract/billing/subscription.ts";
import { askDiscount } from "./ask-discount.ts";

export interface DiscountState {
  discount: DiscountEligibility | null;
  failed: boolean;
  retry: () => void;
}

/** Asks the server whether a discount applies, again when somebody signs in or out. `userId` is undefined until it is known. */
export function useDiscount(userId: string | null | undefined): DiscountState {
  const [answer, setAnswer] = useState<{ discount: DiscountEligibility | null; failed: boolean }>({ discount: null, failed: false });

  const ask = useCallback((signal?: AbortSignal) => {
    askDiscount(signal)
      .then((discount) => setAnswer({ discount, failed: false }))
      .catch(() => {
        if (!signal?.aborted) setAnswer({ discount: null, failed: true });
      });
  }, []);

  useEffect(() => {
    if (userId === undefined) return;
    const abort = new AbortController();
    ask(abort.signal);
    return () => abort.abort();
  }, [userId, ask]);

  return { ...answer, retry: () => ask() };
}
