/**
 * The free trial (specification §2): started by the person, once for each mailbox, without a card. A mailbox that had one is remembered as a
 * keyed hash, also when the account is deleted or its address changes. Access ends with `ends_at`, by business time; the credits are a
 * grant of the ledger that expires then. A sweep sends the reminder and tells the person that it is over.
 */
import { createHmac } from "node:crypto";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { plans, trialCredits, trialDays, trialReminderDays } from "#domain/plans.ts";
import { mailboxKey } from "#domain/rules.ts";
import type { Trial } from "../../contract/billing/subscription.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { SubscriptionRow, TrialRow } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { deriveKey } from "../../http/secret-keys.ts";
import { sweepPage, sweepRows } from "../../queue/sweep-rows.ts";
import { postGrant } from "../credits/service.ts";
import { recordFinding, resolveOthers } from "../findings/service.ts";
import { queueMail } from "../notifications/service.ts";
import { readEntitlement } from "./entitlement.ts";
import * as queries from "./queries.ts";
import * as trials from "./trial-queries.ts";

type KeyHolder = Pick<Deps, "config">;

/** With the key of today first, and during a rotation with the one before. */
function mailboxHashes({ config }: KeyHolder, email: string): [Buffer, ...Buffer[]] {
  const [key, ...previous] = config.encryptionKeys;
  const hash = (secret: string) => createHmac("sha256", deriveKey(secret, "trial-mailbox")).update(mailboxKey(email)).digest();
  return [hash(key), ...previous.map(hash)];
}

/** Writes the mailbox down. False if it had a trial before. */
async function takeMailbox(trx: Trx, deps: KeyHolder, email: string, startedAt: Date): Promise<boolean> {
  const [hash, ...previous] = mailboxHashes(deps, email);
  if (previous.length > 0 && (await trials.hadTrial(trx, previous))) return false;
  return trials.insertMailbox(trx, hash, startedAt);
}

/** Whether there is a plan, even an unpaid or suspended one: beside it a trial would give nothing, and another plan would be a second. */
export function hasRunningPlan(row: Pick<SubscriptionRow, "status"> | undefined): boolean {
  return row?.status === "active" || row?.status === "past_due" || row?.status === "suspended";
}

export function planSuspended(): DomainError {
  return new DomainError("plan_suspended", "Your plan is on hold. Pay its open invoice or cancel it in your account first", {
    endPlanAt: "/profile",
  });
}

/** Throws `plan_suspended` or `already_subscribed` if there is a plan. */
export function refuseRunningPlan(row: Pick<SubscriptionRow, "status"> | undefined): void {
  if (row?.status === "suspended") throw planSuspended();
  if (hasRunningPlan(row)) throw alreadySubscribed();
}

function alreadySubscribed(): DomainError {
  return new DomainError("already_subscribed", "You already have a subscription. Change the plan on the pricing page", {
    changePlanAt: "/pricing",
  });
}

function present({ started_at, ends_at }: TrialRow): Trial {
  return { startedAt: started_at.toISOString(), endsAt: ends_at.toISOString(), credits: trialCredits };
}

/** If there are more, a later hour reports them. */
const listedTrials = 20;

const used = () => new DomainError("trial_used", "This mailbox has had its free trial. Choose a plan to go on");

async function begin(trx: Trx, deps: KeyHolder & Pick<Deps, "settings">, { userId, network }: Starter, now: Date): Promise<Trial> {
  await trials.lockPerson(trx, userId);
  const known = await trials.selectTrial(trx, userId);
  if (known && now < known.ends_at) return present(known);
  if (known) throw used();
  if (!deps.settings.current.trials)
    throw new DomainError("trials_paused", "Free trials can't be started at the moment. Yours is not lost");
  refuseRunningPlan(await queries.selectSubscription(trx, userId));
  const starter = await trials.selectStarter(trx, userId);
  if (!starter) throw new DomainError("email_not_confirmed", "Confirm your email address first");
  if (!(await takeMailbox(trx, deps, starter.email, now))) throw used();
  const endsAt = addMilliseconds(now, trialDays * dayMs);
  const trial = { user_id: userId, started_at: now, ends_at: endsAt, due_at: addMilliseconds(endsAt, -trialReminderDays * dayMs) };
  await trials.insertTrial(trx, trial);
  const key = `trial:${starter.payer_id}`;
  await postGrant(trx, { payerId: starter.payer_id, kind: "trial", credits: trialCredits, expiresAt: endsAt, key }, now);
  await recordAct(trx, { actor: userId, subject: userId, action: "trial.started", network, details: {} });
  return present(trial);
}

interface Starter {
  userId: string;
  network: string;
}

/**
 * Starts the trial; while it runs, starting it again gives the same one. Throws `trial_used`, `trials_paused`, `already_subscribed`,
 * `plan_suspended` and `email_not_confirmed`.
 */
export async function startTrial(
  deps: Pick<Deps, "config" | "db" | "clock" | "live" | "log" | "settings">,
  starter: Starter,
): Promise<Trial> {
  const now = deps.clock.now();
  const trial = await inTransaction(deps.db, (trx) => begin(trx, deps, starter, now));
  if (trial.startedAt === now.toISOString()) await tell(deps, starter.userId);
  return trial;
}

async function tell(deps: Pick<Deps, "db" | "live" | "log">, userId: string): Promise<void> {
  const account = await queries.selectAccountOf(deps.db, userId);
  if (account) await announceToMembers(deps, account.payer_id, "user_subscriptions", "wallets");
}

/** Whether the person may start the trial, and when theirs ends or ended. */
export async function readTrial(
  executor: Executor,
  deps: KeyHolder,
  userId: string,
  row: SubscriptionRow | undefined,
): Promise<{ canStart: boolean; endsAt: Date | null }> {
  const trial = await trials.selectTrial(executor, userId);
  if (trial || hasRunningPlan(row)) return { canStart: false, endsAt: trial?.ends_at ?? null };
  const starter = await trials.selectStarter(executor, userId);
  return { canStart: starter !== undefined && !(await trials.hadTrial(executor, mailboxHashes(deps, starter.email))), endsAt: null };
}

/** Marks the new address of somebody who had a trial, so that no other account gets a trial for it. The caller has locked the person. */
export async function keepTrialOf(trx: Trx, deps: KeyHolder, userId: string, email: string): Promise<void> {
  const trial = await trials.selectTrial(trx, userId);
  if (trial) await takeMailbox(trx, deps, email, trial.started_at);
}

async function mail(
  trx: Trx,
  { user_id: userId, ends_at: endsAt }: TrialRow,
  template: "trial-ending" | "trial-ended",
  now: Date,
): Promise<void> {
  const starter = await trials.selectStarter(trx, userId);
  const recipient = starter && (await queries.selectRecipient(trx, starter.payer_id));
  if (!recipient) return;
  const to = { key: `${template}:${userId}`, userId, recipient: recipient.email, language: recipient.language };
  const { monthlyPriceCents: priceCents } = plans.starter;
  if (template === "trial-ended") await queueMail(trx, { ...to, template, parameters: { priceCents } }, now);
  else await queueMail(trx, { ...to, template, parameters: { expiresAt: endsAt.toISOString(), priceCents } }, now);
}

/** The reminder or, once it is over, the end. Somebody who has a plan by then gets no mail. */
async function advance(deps: Pick<Deps, "db" | "live" | "log">, userId: string, now: Date): Promise<boolean> {
  const ended = await inTransaction(deps.db, async (trx) => {
    const trial = await trials.lockDueTrial(trx, userId, now);
    if (!trial) return undefined;
    const isOver = trial.ends_at <= now;
    await trials.setDueAt(trx, userId, isOver ? null : trial.ends_at);
    const { tier } = await readEntitlement(trx, userId, now);
    if (tier === "none") await mail(trx, trial, isOver ? "trial-ended" : "trial-ending", now);
    return isOver;
  });
  if (ended) await tell(deps, userId);
  return ended !== undefined;
}

/** Takes every trial whose next step is due by `now` that step on; a reminder that is due after the end is left out. Returns how many. */
export async function advanceTrials(deps: Pick<Deps, "db" | "live" | "log">, now: Date, signal?: AbortSignal): Promise<number> {
  return sweepRows(
    deps,
    "trials",
    () => trials.selectDueTrials(deps.db, now, sweepPage),
    (userId) => userId,
    (userId) => advance(deps, userId, now),
    signal,
  );
}

/**
 * Hourly: trials that have not got their credits, and the other way round. Both are written in one transaction, so that there should be none; each
 * is a finding.
 */
export async function checkTrials({ db, clock, log }: Pick<Deps, "db" | "clock" | "log">): Promise<trials.WrongTrial[]> {
  const found = await trials.selectTrialsWithoutGrant(db, trialCredits, listedTrials);
  const now = clock.now();
  for (const { kind, id, payerId } of found)
    await recordFinding(db, { kind: "wrong_trial", subject: `${kind}:${id}`, payerId, details: {} }, null, now);
  const subjects = found.map(({ kind, id }) => `${kind}:${id}`);
  if (found.length < listedTrials) await resolveOthers(db, "wrong_trial", subjects, now);
  if (found.length > 0) log.error({ found }, "trials and their credits disagree");
  return found;
}
