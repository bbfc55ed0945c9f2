/** An admin mails a person once more what is unpaid, with the link to Stripe's page where it is paid. */
import { DomainError } from "#domain/errors.ts";
import type { MailPayLink } from "../../contract/admin/mails.ts";
import { recordAct } from "../../db/audit.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { queueMail } from "../notifications/service.ts";
import { countTeamMail } from "../team/limits.ts";
import type { Clerk } from "../team/service.ts";
import { selectOwnInvoice } from "./invoice-queries.ts";
import { selectRecipient, selectSubscription } from "./queries.ts";
import { paymentFailedParameters } from "./renewal-mails.ts";

const template = "payment-failed" as const;

/**
 * Sends one mail for each key. Throws `not_found` for an invoice that is not the person's, `conflict` if it is not unpaid any more, its
 * plan is over or the account is being deleted, and `too_many_attempts`.
 */
export async function mailPayLink(
  { db, clock }: Pick<Deps, "db" | "clock">,
  clerk: Clerk,
  { userId, invoiceId, reason, key }: MailPayLink & { userId: string; invoiceId: string },
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const now = clock.now();
    const invoice = await selectOwnInvoice(trx, userId, invoiceId);
    if (!invoice) throw new DomainError("not_found", "There is no such invoice");
    const subscription = await selectSubscription(trx, userId);
    const until = subscription?.stripe_subscription_id === invoice.stripe_subscription_id ? subscription.grace_until : null;
    const isUnpaid = invoice.status === "open" && (invoice.failed || invoice.needs_action);
    const parameters = isUnpaid && until !== null && paymentFailedParameters(invoice, until, now);
    const to = await selectRecipient(trx, invoice.billing_account_id);
    if (!parameters || !to) throw new DomainError("conflict", "This invoice is not unpaid any more, or its plan is over");
    const mail = {
      key: `pay-link:${invoiceId}:${key}`,
      userId: to.user_id,
      recipient: to.email,
      language: to.language,
      template,
      parameters,
    };
    if (!(await queueMail<typeof template>(trx, mail, now))) return;
    await countTeamMail(trx, clerk.userId, to.user_id);
    const act = { actor: clerk.userId, subject: to.user_id, network: clerk.network, reason };
    await recordAct(trx, { ...act, action: "mail.sent_again", details: { template } });
  });
}
