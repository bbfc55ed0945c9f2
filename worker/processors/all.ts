import type { Processors } from "../run-job.ts";
import { alignSubscriptionJob } from "./align-subscription.ts";
import { deleteFileJob } from "./delete-file.ts";
import { deleteFilesJob } from "./delete-files.ts";
import { makeExportJob } from "./make-export.ts";
import { payBackJob } from "./pay-back.ts";
import { processStripeEventJob } from "./process-stripe-event.ts";
import { readInvoicesJob } from "./read-invoices.ts";
import { sendMailJob } from "./send-mail.ts";
import { settleCheckoutJob } from "./settle-checkout.ts";
import { settleTransferJob } from "./settle-transfer.ts";
import { tellLowCreditsJob } from "./tell-low-credits.ts";
import { updateCustomerJob } from "./update-customer.ts";

/** Exhaustive: a job without a processor does not compile. */
export const processors: Processors = {
  "align-subscription": alignSubscriptionJob,
  "delete-file": deleteFileJob,
  "delete-files": deleteFilesJob,
  "make-export": makeExportJob,
  "pay-back": payBackJob,
  "process-stripe-event": processStripeEventJob,
  "read-invoices": readInvoicesJob,
  "send-mail": sendMailJob,
  "settle-checkout": settleCheckoutJob,
  "settle-transfer": settleTransferJob,
  "tell-low-credits": tellLowCreditsJob,
  "update-customer": updateCustomerJob,
};
