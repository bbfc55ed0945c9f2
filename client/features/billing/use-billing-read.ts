import { useCallback, useEffect, useState } from "react";
import { billingNews, useNews } from "#client/lib/use-news.ts";

/** Calls `look` at once, and again after news of plan or wallet. It must stay the same function. */
export function useBillingNews(look: () => Promise<void>): void {
  useEffect(() => void look(), [look]);
  useNews(billingNews, look);
}

/** The result of `read`, which is called again after news. Undefined until it has succeeded once. `read` must stay the same function. */
export function useBillingRead<Value>(read: () => Promise<Value>) {
  const [value, setValue] = useState<Value>();
  const look = useCallback(async () => {
    try {
      setValue(await read());
    } catch {
      // What was known is still shown.
    }
  }, [read]);
  useBillingNews(look);
  return [value, setValue] as const;
}
