import { useCallback, useState } from "react";
import type { CallResult } from "#client/lib/api.ts";
import { api } from "#client/lib/api.ts";
import { useBillingNews } from "./use-billing-read.ts";

type Page = CallResult<"GET /api/billing/invoices">;
type State = { status: "loading" } | { status: "failed" } | { status: "known"; page: Page };

/** The person's invoices, newest first. They are read again after every pushed change. `more` throws what its call throws. */
export function useInvoices() {
  const [state, setState] = useState<State>({ status: "loading" });

  const look = useCallback(async () => {
    try {
      const page = await api("GET /api/billing/invoices");
      setState({ status: "known", page });
    } catch {
      setState((before) => (before.status === "known" ? before : { status: "failed" }));
    }
  }, []);

  const more = useCallback(async (cursor: string) => {
    const next = await api("GET /api/billing/invoices", { querystring: { cursor } });
    // If the list was read again meanwhile, this page no longer follows it.
    setState((before) =>
      before.status === "known" && before.page.nextCursor === cursor
        ? { status: "known", page: { ...next, reading: before.page.reading, invoices: [...before.page.invoices, ...next.invoices] } }
        : before,
    );
  }, []);

  useBillingNews(look);
  return { state, look, more };
}
