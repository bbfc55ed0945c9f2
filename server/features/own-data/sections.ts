/**
 * What an export contains: for each JSON file of the zip what its README says of it, and the SQL of its rows. `key` orders the rows and tells
 * where the next page begins. These queries read the tables of all features, because an export is a copy of rows and applies no rule to them.
 */
import { sql } from "kysely";
import { NIL as nil } from "uuid";
import { shownActions } from "#domain/audit.ts";
import { exportedSource, grantSources } from "../../db/grant-sources.ts";
import { moneySections } from "./money-sections.ts";
import type { Section } from "./section.ts";
import { account, pageSize } from "./section.ts";

/** What a receipt says; `g` is a row of generations. */
const receipt = sql`jsonb_build_object('generationId', g.id, 'model', g.model_id, 'status', g.status, 'failure', g.failure_code,
  'filterReason', g.filter_reason, 'quotedCredits', g.quoted_credits, 'chargedCredits', g.charged_credits, 'promptTokens', g.prompt_tokens,
  'completionTokens', g.completion_tokens, 'thinkingTokens', g.thinking_tokens, 'searches', g.searches, 'askedAt', g.created_at, 'endedAt', g.ended_at)`;

const parts = sql`(select coalesce(jsonb_agg(jsonb_build_object('kind', p.kind, 'text', p.text, 'detail', p.detail) order by p.place), '[]')
  from generation_parts p where p.generation_id = g.id)`;

export const sections: readonly Section[] = [
  {
    name: "account",
    describes:
      "Your account: its id, your name and picture, when you joined and last signed in, your preferences, and the limits and the alert you set for your spending.",
    rows: (
      userId,
    ) => sql`select id as key, jsonb_build_object('id', id, 'name', name, 'joinedAt', created_at, 'lastSignInAt', last_sign_in_at, 'role', role,
      'picture', avatar_url, 'preferences', jsonb_build_object('language', language, 'declinedMails', declined_mails),
      'spendingLimits', (select jsonb_build_object('dailyCapCredits', l.daily_cap_credits, 'askAboveCredits', l.ask_above_credits)
        from spending_limits l where l.user_id = users.id),
      'creditAlertPercent', (select w.alert_percent from wallets w where w.billing_account_id = payer_of(users.id))) as item from users where id = ${userId}`,
  },
  {
    name: "identities",
    describes: "By what we know you: your email address and when it was confirmed, and a Google account that you linked.",
    rows: (
      userId,
    ) => sql`select id as key, jsonb_build_object('kind', kind, 'subject', subject, 'address', shown_as, 'confirmedAt', verified_at)
      as item
      from identities where user_id = ${userId}`,
  },
  {
    name: "addressChanges",
    describes:
      "Addresses of changes: a new one that waits to be confirmed, and earlier ones we keep for a while so that you can have them back. " +
      "`newWay`: to this one we mailed a link that removes a new way to sign in.",
    rows: (userId) => sql`select id as key, jsonb_build_object('address', address, 'for', case purpose when 'change-email' then 'change'
      when 'disown-way' then 'newWay' else 'reversal' end, 'askedAt', created_at, 'expiresAt', expires_at, 'usedAt', used_at) as item
      from email_links where user_id = ${userId} and address is not null`,
  },
  {
    name: "credentials",
    describes: "What you sign in with and when it was last used. Secrets are stored as hashes and are not exported.",
    rows: (
      userId,
    ) => sql`select id as key, jsonb_build_object('kind', kind, 'name', name, 'createdAt', created_at, 'lastUsedAt', last_used_at)
      as item from credentials where user_id = ${userId}`,
  },
  {
    name: "passkeys",
    describes: "Your passkeys. Their private keys are on your devices; of each we have only the public key.",
    rows: (userId) => sql`select id as key, jsonb_build_object('name', name, 'transports', transports, 'deviceType', device_type,
      'backedUp', backed_up, 'publicKey', encode(public_key, 'base64'), 'timesUsed', counter, 'createdAt', created_at,
      'lastUsedAt', last_used_at) as item from passkeys where user_id = ${userId}`,
  },
  {
    name: "sessions",
    describes: "Where you signed in: the browser as it called itself, its time zone, and when.",
    rows: (userId) => sql`select id as key, jsonb_build_object('browser', user_agent, 'timeZone', time_zone, 'createdAt', created_at,
      'lastUsedAt', rotated_at, 'expiresAt', expires_at, 'endedAt', revoked_at) as item from auth_sessions where user_id = ${userId}`,
  },
  {
    name: "factor-resets",
    describes: "Requests to remove a lost second factor, and how they ended.",
    rows: (
      userId,
    ) => sql`select id as key, jsonb_build_object('askedAt', asked_at, 'dueAt', due_at, 'mailedAt', mailed_at, 'endedAt', ended_at,
      'ending', ending) as item from factor_resets where user_id = ${userId}`,
  },
  {
    name: "activity",
    describes:
      "What was done to your account, as the activity in your account shows it, with the network it came from and the reason our team gave.",
    rows: (
      userId,
    ) => sql`select e.id as key, jsonb_build_object('at', e.at, 'action', e.action, 'details', e.details, 'network', o.network, 'reason', r.reason) as item
      from audit_events e
      left join audit_origins o on o.event_id = e.id and o.user_id = ${userId}
      left join audit_reasons r on r.event_id = e.id and r.user_id = ${userId}
      where e.subject = (select id from audit_people where user_id = ${userId}) and e.action = any (${[...shownActions]}::text[])`,
  },
  {
    name: "subscription",
    describes: "The subscription you have, or had last. Prices are in cents.",
    rows: (userId) => sql`select user_id as key, jsonb_build_object('plan', plan_key, 'interval', billing_interval, 'status', status,
      'priceCents', price_cents, 'periodStart', current_period_start, 'periodEnd', current_period_end, 'endsAtPeriodEnd', cancel_at_period_end,
      'startedAt', started_at, 'endedAt', ended_at, 'stripeSubscription', stripe_subscription_id) as item
      from user_subscriptions where user_id = ${userId}`,
  },
  {
    name: "subscription-changes",
    describes: "How your subscription changed over time.",
    rows: (userId) => sql`select id as key, jsonb_build_object('plan', plan_key, 'interval', billing_interval, 'status', status,
      'priceCents', price_cents, 'periodStart', current_period_start, 'periodEnd', current_period_end, 'validFrom', valid_from,
      'stripeSubscription', stripe_subscription_id) as item from subscription_changes where billing_account_id = ${account(userId)}`,
  },
  {
    name: "trial",
    describes: "Your free trial: when it began and when it ends or ended. Its credits are among the grants.",
    rows: (userId) => sql`select user_id as key, jsonb_build_object('startedAt', started_at, 'endsAt', ends_at) as item
      from trials where user_id = ${userId}`,
  },
  {
    name: "invoices",
    describes: "Your invoices, with the lines of those that were paid. Stripe has the invoices themselves; your account leads to them.",
    rows: (
      userId,
    ) => sql`select md5(own.id)::uuid as key, jsonb_build_object('stripeInvoice', own.id, 'number', i.number, 'issuedAt', i.issued_at,
      'status', i.status, 'totalCents', i.total_cents, 'refundedCents', i.refunded_cents,
      'taxCents', i.tax_cents, 'taxPercent', i.tax_percent, 'pack', i.pack_key, 'paidAt', p.paid_at,
      'amountPaidCents', p.amount_paid_cents, 'reason', p.billing_reason, 'lines', (select coalesce(jsonb_agg(jsonb_build_object(
        'plan', l.plan_key, 'interval', l.billing_interval, 'amountCents', l.amount_cents, 'periodStart', l.period_start,
        'periodEnd', l.period_end) order by l.id), '[]') from paid_invoice_lines l where l.invoice_id = own.id)) as item
      from (select id from paid_invoices where billing_account_id = ${account(userId)}
        union select id from invoices where billing_account_id = ${account(userId)}) own
      left join invoices i on i.id = own.id left join paid_invoices p on p.id = own.id`,
  },
  {
    name: "orders",
    describes: "What you ordered and agreed to before you paid: price, terms, and your wish that we begin at once. Prices are in cents.",
    rows: (userId) => sql`select id as key, jsonb_build_object('price', price_id, 'amountCents', amount_cents, 'renewalCents', later_cents,
      'currency', currency, 'credits', credits, 'language', language, 'terms', terms, 'withdrawalNotice', withdrawal,
      'consentedAt', consented_at, 'stripeSession',
      case when stripe_subscription_id is null then stripe_session_id end, 'stripeSubscription', stripe_subscription_id, 'contract', contract_id, 'concludedAt', concluded_at) as item
      from orders where billing_account_id = ${account(userId)}`,
  },
  {
    name: "offers",
    describes: "The plan that we last offered you to be paid by bank transfer, and until when you could order it.",
    rows: (
      userId,
    ) => sql`select user_id as key, jsonb_build_object('price', price_id, 'daysUntilDue', days_until_due, 'offeredAt', offered_at,
      'expiresAt', expires_at, 'order', order_id) as item from transfer_offers where user_id = ${userId}`,
  },
  ...moneySections,
  {
    name: "wallet",
    describes: "Your credits: how many there are, and how many of them are held for answers that are being written.",
    rows: (
      userId,
    ) => sql`select id as key, jsonb_build_object('balance', balance, 'held', held, 'openedAt', created_at, 'frozenAt', frozen_at)
      as item from wallets where billing_account_id = ${account(userId)}`,
  },
  {
    name: "grants",
    describes:
      "The credits you were given, each with its kind, the day it expires, and what it was for: the plan with the period that was paid, or the pack.",
    rows: (userId) => sql`select g.id as key, jsonb_build_object('id', g.id, 'kind', g.kind, 'credits', g.credits, 'remaining', g.remaining,
      'createdAt', g.created_at, 'expiresAt', g.expires_at, 'expiredAt', g.expired_at) || ${exportedSource} as item
      from grants g join wallets w on w.id = g.wallet_id ${grantSources} where w.billing_account_id = ${account(userId)}`,
  },
  {
    name: "ledger",
    describes:
      "Every movement of your credits, with its entries, and the reason for those that were taken back. The amounts of a movement sum to zero; `wallet` is your side of it.",
    rows: (
      userId,
    ) => sql`select t.id as key, jsonb_build_object('id', t.id, 'kind', t.kind, 'at', t.occurred_at, 'reason', t.reason, 'entries',
        (select jsonb_agg(jsonb_build_object('account', e.account, 'grant', e.grant_id, 'amount', e.amount) order by e.line)
          from ledger_entries e where e.transaction_id = t.id)) as item
      from ledger_transactions t where t.wallet_id = (select id from wallets where billing_account_id = ${account(userId)})`,
  },
  {
    name: "conversations",
    describes: "Your conversations. Their messages are in `messages.json`; `lastMessage` ends the version that is shown.",
    rows: (userId) => sql`select id as key, jsonb_build_object('id', id, 'title', title, 'pinned', pinned, 'lastMessage', head_id,
      'createdAt', created_at, 'updatedAt', updated_at) as item from conversations where user_id = ${userId}`,
  },
  {
    name: "messages",
    describes:
      "The messages of all conversations. `follows` is the message before; messages that follow the same one are versions of each other. " +
      "A question has `text`, and the ids of its `files`; an answer has `parts` and its `receipt`.",
    place: "uuid",
    // Of each conversation at most a page is read.
    rows: (userId, { place, key } = { place: nil, key: nil }) => sql`select c.id as place, m.id as key, jsonb_build_object('id', m.id,
        'conversation', m.conversation_id, 'follows', m.parent_id, 'role', m.role, 'at', m.created_at) ||
        case when m.generation_id is null then jsonb_build_object('text', m.content) ||
          case when m.attachments is null then '{}' else jsonb_build_object('files', (select jsonb_agg(a ->> 'fileId') from jsonb_array_elements(m.attachments) a)) end
        else jsonb_build_object('parts', ${parts}, 'receipt', ${receipt}) end as item
      from conversations c cross join lateral (select * from messages m
          where m.conversation_id = c.id and m.id > case when c.id = ${place}::uuid then ${key}::uuid else ${nil} end
          order by m.id limit ${pageSize}) m
        left join generations g on g.id = m.generation_id
      where c.user_id = ${userId} and c.id >= ${place}::uuid`,
  },
  {
    name: "receipts",
    describes:
      "The receipts of all answers, also of those whose conversation you deleted. Answers outside conversations have their `parts`.",
    place: "timestamptz",
    rows: (userId) => sql`select g.asked_at as place, g.id as key, ${receipt} ||
      case when (select true from messages m where m.generation_id = g.id) then '{}' else jsonb_build_object('parts', ${parts}) end as item
      from generations g where g.user_id = ${userId}`,
  },
  {
    name: "files",
    describes: "Your files: what you attached to questions, and what models made for you. `file` is its name in this export.",
    place: "text",
    rows: (userId) => sql`select kind as place, id as key, jsonb_build_object('file', concat('files/', id, '-', name),
      'kind', kind, 'name', name, 'type', content_type, 'bytes', bytes, 'conversation', conversation_id, 'answer', generation_id,
      'createdAt', created_at) as item
      from files where user_id = ${userId} and content_type is not null`,
  },
  {
    name: "contact-messages",
    describes: "What you wrote to the team while you were signed in, and what the team answered.",
    rows: (userId) => sql`select m.id as key, jsonb_build_object('name', name, 'email', email, 'category', category, 'subject', subject,
      'message', message, 'at', created_at, 'status', status, 'answers', (select coalesce(jsonb_agg(jsonb_build_object(
        'subject', e.subject, 'text', e.body, 'at', e.at) order by e.id), '[]') from contact_events e where e.message_id = m.id and e.kind = 'answered'))
      as item from contact_messages m where user_id = ${userId}`,
  },
  {
    name: "saved-views",
    describes: "For members of the team: the lists of the admin panel that you saved under a name, with their filters, order and columns.",
    rows: (userId) => sql`select id as key, jsonb_build_object('list', list, 'name', name, 'search', search, 'createdAt', created_at)
      as item from saved_views where user_id = ${userId}`,
  },
  {
    name: "support-access",
    describes:
      "Until when you let our team read your conversations, when you took that back or said no, and when the team asked. What was read is in `activity.json`.",
    rows: (
      userId,
    ) => sql`select user_id as key, jsonb_build_object('askedAt', asked_at, 'givenAt', given_at, 'until', until, 'endedAt', ended_at) as item
      from support_access where user_id = ${userId}`,
  },
  {
    name: "mails",
    describes: "Which emails we sent you.",
    rows: (userId) => sql`select id as key, jsonb_build_object('kind', template, 'to', recipient, 'language', language, 'sentAt', sent_at)
      as item from mails where user_id = ${userId}`,
  },
  {
    name: "exports",
    describes: "The exports you asked for in the last days.",
    rows: (
      userId,
    ) => sql`select id as key, jsonb_build_object('askedAt', asked_at, 'readyAt', ready_at, 'expiresAt', expires_at, 'bytes', bytes)
      as item from data_exports where user_id = ${userId}`,
  },
];
