/** What the team reads in its panel, for the comparison of a large database with a small one (scale.ts). Names of acts begin with "panel". */
import { sql } from "kysely";
import type { Deps } from "#server/deps.ts";
import { auditTable } from "#server/features/admin/audit-table.ts";
import { campaignsTable } from "#server/features/admin/campaigns-table.ts";
import { readClosedFindings } from "#server/features/admin/closed-findings.ts";
import { inboxTable } from "#server/features/admin/inbox-table.ts";
import { sentMailsTable, waitingJobsTable } from "#server/features/admin/mail-tables.ts";
import { readNeeds } from "#server/features/admin/needs.ts";
import { peopleTable } from "#server/features/admin/people-table.ts";
import { readPerson } from "#server/features/admin/person.ts";
import { answersTable, invoicesTable, mailsTable } from "#server/features/admin/person-tables.ts";
import type { Table, TablePage } from "#server/features/admin/tables.ts";
import { readNeighbours, readTable } from "#server/features/admin/tables.ts";
import { teamTable } from "#server/features/admin/team-table.ts";
import { readViews } from "#server/features/admin/views.ts";
import { readLetter } from "#server/features/admin/work-acts.ts";
import { eventsTable, lettersTable, refusedMailsTable } from "#server/features/admin/work-tables.ts";
import { readCampaignResults } from "#server/features/billing/campaigns.ts";
import { hasLeft } from "#server/features/billing/discount-queries.ts";
import { readModelUse } from "#server/features/figures/service.ts";
import type { Acts, ScalePerson } from "./scale-acts.ts";

/** The first page and the one after it. Throws if a page has fewer rows than it must have. */
async function twoPages<Row, Shown extends Record<string, unknown>, Filter, Sort extends string>(
  deps: Deps,
  table: Table<Row, Shown, Filter, Sort>,
  filter: Filter,
  { sort, atLeast = 1 }: { sort?: Sort; atLeast?: number } = {},
): Promise<void> {
  const read = (cursor?: string): Promise<TablePage<Shown>> =>
    readTable(deps.db, table, { ...(sort && { sort }), ...(cursor && { cursor }) }, filter);
  const { rows, nextCursor } = await read();
  if (rows.length < atLeast) throw new Error(`a table of the panel has ${rows.length} rows`);
  if (nextCursor !== null) await read(nextCursor);
}

/** By name: each table, with each of its orders and filters, and each page that is no table. */
export function panelActs(deps: Deps, somebody: () => ScalePerson): Acts {
  const people = (search: string, atLeast = 1) => twoPages(deps, peopleTable, { search }, { atLeast });
  const numberOf = (id: string) => id.slice(id.indexOf("_") + 1);
  const nothing = { atLeast: 0 };
  return {
    "panel: people": () => twoPages(deps, peopleTable, {}),
    "panel: people by address": () => twoPages(deps, peopleTable, {}, { sort: "email" }),
    "panel: people who are banned": () => twoPages(deps, peopleTable, { state: "banned" }, nothing),
    "panel: people who leave, by address": () => twoPages(deps, peopleTable, { state: "deleting" }, { sort: "email", atLeast: 0 }),
    "panel: a person by address": () => people(somebody().email),
    "panel: people whose address begins alike": () => people("person-1", 50),
    "panel: people with a word of the name that begins alike": () => people("1", 50),
    "panel: a person by a whole name": () => people(`person ${numberOf(somebody().customerId)}`),
    "panel: a person by a word of the name": () => people(numberOf(somebody().customerId)),
    "panel: a person by id": () => people(somebody().userId),
    "panel: a person by Stripe's customer": () => people(somebody().customerId),
    "panel: a person by Stripe's subscription": () => people(somebody().subscriptionId),
    "panel: a person by Stripe's invoice": () => people(`in_${numberOf(somebody().customerId)}`),
    "panel: a person by Stripe's charge": () => people(`ch_${numberOf(somebody().customerId)}`),
    "panel: a person by Stripe's checkout": () => people(`cs_${numberOf(somebody().customerId)}`, 0),
    "panel: a person by an invoice's number": () => people(`t00-${numberOf(somebody().customerId).padStart(3, "0")}`),
    "panel: a person's page": async () => {
      const { userId } = somebody();
      await readPerson(deps, userId, { userId, sessionId: userId, role: "admin" });
    },
    "panel: a person's answers": () => twoPages(deps, answersTable, { userId: somebody().userId }),
    "panel: a person's mails": () => twoPages(deps, mailsTable, { userId: somebody().userId }),
    "panel: a person's invoices": () => {
      const { userId } = somebody();
      return twoPages(deps, invoicesTable, { userId, state: "paid" });
    },
    "panel: what needs somebody": () => readNeeds(deps, false),
    "panel: what was put off": () => readNeeds(deps, true),
    "panel: what somebody closed": () => readClosedFindings(deps.db),
    "panel: events": () => twoPages(deps, eventsTable, {}, { atLeast: 50 }),
    "panel: events of a type": () => twoPages(deps, eventsTable, { type: "invoice.paid" }, { atLeast: 50 }),
    "panel: events of a type that never came": () => twoPages(deps, eventsTable, { type: "charge.refunded" }, nothing),
    "panel: events that were set aside": () => twoPages(deps, eventsTable, { status: "set_aside" }, nothing),
    "panel: events that have failed": () => twoPages(deps, eventsTable, { status: "failed" }, nothing),
    "panel: events that were discarded": () => twoPages(deps, eventsTable, { status: "discarded" }, nothing),
    "panel: team": () => twoPages(deps, teamTable(deps.config), {}, nothing),
    "panel: failed jobs": () => twoPages(deps, lettersTable, {}),
    "panel: failed jobs that wait, of a kind": () => twoPages(deps, lettersTable, { state: "waiting", job: "send-mail" }, nothing),
    "panel: all mails": () => twoPages(deps, sentMailsTable, {}),
    "panel: all mails to an address": () => twoPages(deps, sentMailsTable, { recipient: somebody().email }, nothing),
    "panel: all mails of a template, of some days": () =>
      twoPages(deps, sentMailsTable, { template: "plan-ended", from: "2026-01-01", to: "2026-12-31" }, nothing),
    "panel: all mails that wait": () => twoPages(deps, sentMailsTable, { state: "waiting" }, nothing),
    "panel: all mails that were refused": () => twoPages(deps, sentMailsTable, { state: "refused" }, nothing),
    "panel: waiting jobs": () => twoPages(deps, waitingJobsTable, {}, nothing),
    "panel: waiting jobs of a kind": () => twoPages(deps, waitingJobsTable, { job: "send-mail" }, nothing),
    "panel: refused mails": () => twoPages(deps, refusedMailsTable, {}, nothing),
    "panel: refused mails that wait": () => twoPages(deps, refusedMailsTable, { state: "waiting" }, nothing),
    "panel: what was done to a failed job": async () => {
      const letter = (await readTable(deps.db, lettersTable, {}, {})).rows[0];
      if (!letter) throw new Error("no job has failed");
      await readLetter(deps.db, letter.id);
    },
    "panel: audit log": () => twoPages(deps, auditTable, {}, { atLeast: 50 }),
    "panel: audit log, an act": () => twoPages(deps, auditTable, { action: "sign_in.completed" }, { atLeast: 50 }),
    "panel: audit log, an act that never was": () => twoPages(deps, auditTable, { action: "passkey.refused" }, nothing),
    "panel: audit log, by somebody": () => twoPages(deps, auditTable, { by: somebody().email }),
    "panel: audit log, about somebody": () => twoPages(deps, auditTable, { about: somebody().email, action: "sign_in.completed" }),
    "panel: inbox": () => twoPages(deps, inboxTable, {}),
    "panel: inbox, what is open": () => twoPages(deps, inboxTable, { status: "open" }, nothing),
    "panel: inbox, of a kind and language": () => twoPages(deps, inboxTable, { category: "bug", language: "de" }),
    "panel: inbox, from somebody": () => twoPages(deps, inboxTable, { sender: somebody().email, status: "done" }, nothing),
    "panel: inbox, the messages around one": async () => {
      const message = (await readTable(deps.db, inboxTable, {}, {})).rows.at(-1);
      if (!message) throw new Error("there is no message");
      const around = await readNeighbours(deps.db, inboxTable, {}, { status: "open" }, sql<boolean>`m.id = ${message.id}`);
      if (!around) throw new Error("there is no such message");
    },
    "panel: whom a price would concern": () =>
      readModelUse(deps, "gpt-5-mini", 365).then(({ accounts }) => {
        if (accounts === 0) throw new Error("nobody used the model");
      }),
    "panel: saved views of a list": () => readViews(deps.db, somebody().userId, "inbox"),
    "discount of people who left": () => hasLeft(deps.db, somebody().userId, new Date()),
    "panel: campaigns and what they brought": async () => {
      const [campaign] = (await readTable(deps.db, campaignsTable(deps.clock.now()), {}, {})).rows;
      if (!campaign) throw new Error("there is no campaign");
      const { orders } = await readCampaignResults(deps, campaign.id);
      if (orders === 0) throw new Error("the campaign brought nothing");
    },
  };
}
