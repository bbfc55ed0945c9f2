/**
 * Credits that a team member gives, and takes back while they are unspent (docs/decisions/0081). They are grants like any others; the
 * audit log has who gave them and why, and from it follows how many an admin may still give today.
 */
import { sql } from "kysely";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { recordAct } from "../../db/audit.ts";
import { findPayer } from "../../db/payer.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { clawBack, postGrant } from "./service.ts";

type ActDeps = Pick<Deps, "db" | "clock" | "live" | "log" | "settings">;

interface Act {
  /** The admin. */
  actor: string;
  network: string;
  /** The person. */
  userId: string;
  reason: string;
  credits: number;
  /** Names the act: the same again changes nothing, and the same key with other content is refused. */
  key: string;
}

/** What the admin has given within 24 hours. What was taken back of it still counts. */
async function givenLately(executor: Executor, actor: string): Promise<number> {
  const { rows } = await sql<{ given: number }>`select coalesce(sum((details->>'credits')::bigint), 0)::bigint as given from audit_events
    where actor = (select id from audit_people where user_id = ${actor}) and action = 'credits.given'
      and at > clock_timestamp() - interval '24 hours'`.execute(executor);
  return rows[0]?.given ?? 0;
}

export async function leftToGive({ db, settings }: Pick<Deps, "db" | "settings">, actor: string): Promise<number> {
  return Math.max(settings.current.creditsPerDay - (await givenLately(db, actor)), 0);
}

/** Two acts of one admin run one after the other, so that both count. */
async function lockActor(trx: Trx, actor: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`adjustments ${actor}`}, 0))`.execute(trx);
}

async function payerIdOf(executor: Executor, userId: string): Promise<string> {
  const payerId = await findPayer(executor, userId);
  if (payerId === undefined) throw new DomainError("not_found", "There is no such account");
  return payerId;
}

async function record(trx: Trx, act: Act, event: { action: "credits.given" | "credits.taken"; days?: number }): Promise<void> {
  const { actor, userId: subject, network, reason, credits } = act;
  const { action, days } = event;
  const about = { actor, subject, network, reason };
  if (action === "credits.given") await recordAct(trx, { ...about, action, details: { credits, days: days ?? 0 } });
  else await recordAct(trx, { ...about, action, details: { credits } });
}

/** Throws `adjustment_limit` past what one admin may give in a day, and `idempotency_conflict`. */
export async function giveCredits(deps: ActDeps, act: Act & { days: number }): Promise<void> {
  const payerId = await payerIdOf(deps.db, act.userId);
  const now = deps.clock.now();
  await inTransaction(deps.db, async (trx) => {
    await lockActor(trx, act.actor);
    const { credits, key, days } = act;
    const known = await trx
      .selectFrom("grants")
      .innerJoin("wallets", "wallets.id", "grants.wallet_id")
      .select(["credits", "billing_account_id", "grants.created_at", "grants.expires_at"])
      .where("source_key", "=", `adjustment:${key}`)
      .executeTakeFirst();
    // The same act again gives nothing. The ledger would refuse it, because its expiry is counted from now; it refuses other content below.
    const isSame =
      known?.credits === credits &&
      known.billing_account_id === payerId &&
      known.expires_at.getTime() === addMilliseconds(known.created_at, days * dayMs).getTime();
    if (isSame) return;
    const grant = {
      payerId,
      kind: "adjustment",
      credits,
      expiresAt: addMilliseconds(now, days * dayMs),
      key: `adjustment:${key}`,
    } as const;
    await postGrant(trx, grant, now);
    await record(trx, act, { action: "credits.given", days });
    const { creditsPerDay } = deps.settings.current;
    if ((await givenLately(trx, act.actor)) > creditsPerDay)
      throw new DomainError("adjustment_limit", `One admin gives at most ${creditsPerDay} credits within 24 hours`);
  });
  await announceToMembers(deps, payerId, "wallets");
}

/** What was taken under this key; undefined if nothing was. */
async function takenUnder(executor: Executor, key: string) {
  return executor
    .selectFrom("ledger_keys")
    .innerJoin("ledger_entries", "ledger_entries.transaction_id", "ledger_keys.transaction_id")
    .select(["grant_id", "amount"])
    .where("key", "=", key)
    .where("account", "=", "clawed_back")
    .executeTakeFirst();
}

/**
 * Takes back credits of an adjustment that nobody has spent or holds, so that it never leaves a debt. Throws `not_found` for a grant that is
 * not the person's or no adjustment, `insufficient_credits` and `idempotency_conflict`.
 */
export async function takeCredits(deps: ActDeps, { grantId, ...act }: Act & { grantId: string }): Promise<void> {
  const payerId = await payerIdOf(deps.db, act.userId);
  const now = deps.clock.now();
  await inTransaction(deps.db, async (trx) => {
    // Whoever spends locks the wallet first, too. The grant is read by a later statement, which sees what they did.
    const wallet = await trx.selectFrom("wallets").select("id").where("billing_account_id", "=", payerId).forUpdate().executeTakeFirst();
    const grant = await trx
      .selectFrom("grants")
      .selectAll()
      .where("id", "=", grantId)
      .where("wallet_id", "=", wallet?.id ?? null)
      .where("kind", "=", "adjustment")
      .executeTakeFirst();
    if (!grant) throw new DomainError("not_found", "There is no such adjustment");
    const key = `adjustment-taken:${act.key}`;
    const known = await takenUnder(trx, key);
    if (known?.grant_id === grantId && known.amount === act.credits) return;
    if (known) throw new DomainError("idempotency_conflict", "The same key was used for something else");
    const free = grant.remaining - grant.held;
    if (act.credits > free)
      throw new DomainError("insufficient_credits", "These credits are spent", { needed: act.credits, available: Math.max(free, 0) });
    const taken = await clawBack(trx, { grantId, inAll: grant.clawed_back + act.credits, reason: "taken_by_team", key }, now);
    if (taken !== act.credits) throw new Error(`took ${taken} of ${act.credits} credits`);
    await record(trx, act, { action: "credits.taken" });
  });
  await announceToMembers(deps, payerId, "wallets");
}
