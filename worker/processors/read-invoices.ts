import { readEarlierInvoices } from "#server/features/billing/earlier-invoices.ts";
import type { Processor } from "../run-job.ts";

export const readInvoicesJob: Processor<"read-invoices"> = (deps, { userId }) => readEarlierInvoices(deps, userId);
