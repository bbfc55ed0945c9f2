import { settleTransfer } from "#server/features/billing/transfers.ts";
import type { Processor } from "../run-job.ts";

export const settleTransferJob: Processor<"settle-transfer"> = (deps, { reference }) => settleTransfer(deps, reference);
