/** The lists of one person's page. None of them has a word that the person or a model wrote. */
import { sql } from "kysely";
import type { FilterReason } from "#domain/filter-reasons.ts";
import type { InvoicesQuery } from "../../contract/admin/invoices.ts";
import { InvoiceRow } from "../../contract/admin/invoices.ts";
import type { AnswersQuery, MailState, MailsQuery } from "../../contract/admin/people.ts";
import { AnswerRow, MailRow } from "../../contract/admin/people.ts";
import { payerOf } from "../../db/payer.ts";
import { hasState, toInvoice } from "../billing/invoices.ts";
import { canResend } from "../notifications/resend.ts";
import { letterOfMail, mailState } from "./mail-tables.ts";
import type { Table } from "./tables.ts";
import { byTime } from "./tables.ts";

type OfPerson<Query> = Query & { userId: string };

interface Answer {
  id: string;
  asked_at: Date;
  model_id: string;
  status: string;
  failure_code: string | null;
  filter_reason: FilterReason | null;
  quoted_credits: number;
  charged_credits: number | null;
  searches: number | null;
  thinking_tokens: number | null;
  ended_at: Date | null;
}

export const answersTable: Table<Answer, AnswerRow, OfPerson<AnswersQuery>, "time"> = {
  columns: sql`g.id, g.asked_at, g.model_id, g.status, g.failure_code, g.filter_reason, g.quoted_credits, g.charged_credits,
    g.searches, g.thinking_tokens, g.ended_at`,
  from: sql`generations g`,
  ...byTime(sql`g.asked_at`, sql`g.id`),
  conditionsOf: ({ userId, status, filterReason }) => [
    sql<boolean>`g.user_id = ${userId}`,
    status === undefined ? undefined : sql<boolean>`g.status = ${status}`,
    filterReason === undefined ? undefined : sql<boolean>`g.filter_reason = ${filterReason}`,
  ],
  shown: AnswerRow,
  show: (row) => ({
    id: row.id,
    askedAt: row.asked_at.toISOString(),
    model: row.model_id,
    status: row.status,
    failure: row.failure_code,
    filterReason: row.filter_reason,
    quotedCredits: row.quoted_credits,
    chargedCredits: row.charged_credits,
    searches: row.searches,
    thinkingTokens: row.thinking_tokens,
    endedAt: row.ended_at?.toISOString() ?? null,
  }),
};

export const invoicesTable: Table<Parameters<typeof toInvoice>[0], InvoiceRow, OfPerson<InvoicesQuery>, "time"> = {
  columns: sql`i.*, b.reference as transfer_reference`,
  from: sql`invoices i left join bank_transfers b on b.invoice_id = i.id`,
  ...byTime(sql`i.issued_at`, sql`i.id`, "text"),
  conditionsOf: ({ userId, state }) => [
    sql<boolean>`i.billing_account_id = ${payerOf(userId)}`,
    state === undefined ? undefined : hasState(state),
  ],
  shown: InvoiceRow,
  show: (row) => {
    const { id, number, issuedAt, subject, totalCents, tax, refundedCents, state, transferReference } = toInvoice(row);
    const plan = subject.kind === "plan" ? { plan: subject.plan, interval: subject.interval } : { plan: null, interval: null };
    const packCredits = subject.kind === "pack" ? subject.credits : null;
    const money = { totalCents, taxCents: tax?.cents ?? null, refundedCents };
    return { id, number, issuedAt, ...plan, packCredits, ...money, state, transferReference };
  },
};

interface Mail {
  id: string;
  created_at: Date;
  template: string;
  language: string;
  state: MailState;
  sent_at: Date | null;
  parameters: Record<string, string | number>;
}

export const mailsTable: Table<Mail, MailRow, OfPerson<MailsQuery>, "time"> = {
  columns: sql`m.id, m.created_at, m.template, m.language, ${mailState} as state, m.sent_at, m.parameters`,
  from: sql`mails m ${letterOfMail}`,
  ...byTime(sql`m.created_at`, sql`m.id`),
  conditionsOf: ({ userId, template }) => [
    sql<boolean>`m.user_id = ${userId}`,
    template === undefined ? undefined : sql<boolean>`m.template = ${template}`,
  ],
  shown: MailRow,
  show: (row) => ({
    id: row.id,
    createdAt: row.created_at.toISOString(),
    template: row.template,
    language: row.language,
    state: row.state,
    sentAt: row.sent_at?.toISOString() ?? null,
    canResend: canResend(row),
  }),
};
