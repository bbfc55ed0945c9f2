/** One person on one page, as the team sees them. Support sees no money. */
import { DomainError } from "#domain/errors.ts";
import type { PersonPage } from "../../contract/admin/people.ts";
import type { Deps } from "../../deps.ts";
import type { Viewer } from "../../http/viewer.ts";
import { readFactors } from "../auth/factors.ts";
import { listSessions } from "../auth/own-sessions.ts";
import { readTakenOver } from "../auth/team-acts.ts";
import { readWaysIn } from "../auth/ways-in.ts";
import { readDisputesOf } from "../billing/disputes.ts";
import { readEntitlement } from "../billing/entitlement.ts";
import { readInvoices } from "../billing/invoices.ts";
import { checkSubscription } from "../billing/service.ts";
import { dashboardUrl } from "../billing/stripe-dashboard.ts";
import { readBillingIds } from "../billing/team-acts.ts";
import { listAwaited } from "../billing/transfers.ts";
import { leftToGive } from "../credits/adjustments.ts";
import { readWallet } from "../credits/service.ts";
import { readSupportAccess } from "../support-access/service.ts";
import { peopleTable } from "./people-table.ts";
import { readTable } from "./tables.ts";

const shownInvoices = 5;

async function readMoney(deps: Deps, userId: string, admin: string): Promise<PersonPage["money"]> {
  const { invoices } = await readInvoices(deps.db, userId, { limit: shownInvoices });
  const transfers = await listAwaited(deps.db, userId);
  const ids = await readBillingIds(deps.db, userId);
  const disputes = ids.billingAccountId === null ? [] : await readDisputesOf(deps.db, deps.config, ids.billingAccountId);
  return {
    ...ids,
    dashboardUrl: dashboardUrl(deps.config.stripe),
    invoices,
    disputes,
    transfers,
    leftToGive: await leftToGive(deps, admin),
  };
}

/** Throws `not_found`. */
export async function readPerson(deps: Deps, userId: string, viewer: Pick<Viewer, "userId" | "sessionId" | "role">): Promise<PersonPage> {
  const { rows } = await readTable(deps.db, peopleTable, {}, { search: userId });
  const person = rows.find(({ id }) => id === userId);
  if (!person) throw new DomainError("not_found", "There is no such account");
  const now = deps.clock.now();
  const factors = await readFactors(deps.db, userId);
  const ways = await readWaysIn(deps.db, userId);
  const { unpaid, ...subscription } = await checkSubscription(deps, userId);
  const { language } = await deps.db.selectFrom("users").select("language").where("id", "=", userId).executeTakeFirstOrThrow();
  const isAdmin = viewer.role === "admin";
  return {
    person,
    language,
    waysIn: {
      password: ways.password,
      google: ways.google?.email ?? null,
      passkeys: ways.passkeys,
      totp: factors.totp !== null,
      recoveryCodes: factors.recoveryCodesLeft,
    },
    takenOver: await readTakenOver(deps.db, userId),
    // None of them is the reader's own, unless the page is about themselves.
    sessions: await listSessions(deps.db, { userId, sessionId: viewer.sessionId }),
    subscription: { ...subscription, ...(isAdmin && unpaid && { unpaid }) },
    wallet: await readWallet(deps.db, userId, (await readEntitlement(deps.db, userId, now)).kinds(true), now),
    supportAccess: await readSupportAccess(deps, userId),
    money: isAdmin ? await readMoney(deps, userId, viewer.userId) : null,
  };
}
