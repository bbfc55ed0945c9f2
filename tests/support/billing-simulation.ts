/**
 * Days and weeks of many people at the product, from a seed: they subscribe, spend, buy packs, cancel, come back, and their cards fail.
 * Meanwhile events are lost, doubled, late and out of order, Stripe's API fails, and the worker is away for days. Every day the books must
 * agree; every few days, when everything has been delivered or found, they must agree with Stripe's to the credit and the cent.
 */
import type Stripe from "stripe";
import { addMilliseconds, dayMs, hourMs } from "#domain/clock.ts";
import { processStripeEvent } from "#server/features/billing/process-event.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { endGracePeriods, postDueScheduledGrants } from "#server/features/billing/schedules.ts";
import { advanceTrials } from "#server/features/billing/trials.ts";
import { expireDueGrants } from "#server/features/credits/service.ts";
import { eraseDueAccounts } from "#server/features/deletion/erase.ts";
import { processors } from "../../worker/processors/all.ts";
import { actSomehow } from "./billing-simulation-acts.ts";
import { checkAgainstStripe, checkLedger, checkWallet, isDebited } from "./billing-simulation-checks.ts";
import { scripts } from "./billing-simulation-scripts.ts";
import type { Actor } from "./billing-simulation-stage.ts";
import { createActor } from "./billing-simulation-stage.ts";
import type { BillingWorld } from "./billing-stripe.ts";
import { deliver } from "./billing-world.ts";
import { seededRandom } from "./ledger-model.ts";

export interface Plan {
  seed: number;
  /** The number of people who act at random, in addition to those of the scripts. */
  people: number;
  days: number;
  /** How many of these people do something on a day, of a hundred. */
  busyPercent: number;
  /** With Stripe Tax. */
  taxed: boolean;
  /** How often Stripe's events are delivered and the worker runs. */
  stepHours: number;
  /** How often everything comes to rest and is compared with Stripe's books. */
  restDays: number;
}

const stripeJobs = ["align-subscription", "pay-back", "settle-checkout", "settle-transfer", "update-customer"] as const;
class Simulation {
  readonly random: (below: number) => number;
  readonly world: BillingWorld;
  private readonly plan: Plan;
  private team: Actor | undefined;
  private actors: Actor[] = [];
  private late: Stripe.Event[] = [];
  private lastAct = "nothing yet";
  private lastReconciled: Date;
  /** Why Stripe refused a job when it ran last. */
  private readonly refusals = new Map<string, unknown>();
  /** The worker runs again from this day on. */
  private workerBackOn = 0;

  constructor(world: BillingWorld, plan: Plan) {
    this.world = world;
    this.plan = plan;
    this.random = seededRandom(plan.seed);
    this.lastReconciled = world.clock.now();
  }

  get taxed(): boolean {
    return this.plan.taxed;
  }

  get admin(): Actor {
    if (!this.team) throw new Error("the team begins with run()");
    return this.team;
  }

  async run(): Promise<void> {
    let day = 0;
    try {
      if (this.taxed) await switchTaxOn(this.world.deps.payments);
      this.team = await createActor(this.world);
      await this.world.database.db.updateTable("users").set({ role: "admin" }).where("id", "=", this.team.userId).execute();
      while (this.actors.length < scripts.length + this.plan.people) this.actors.push(await createActor(this.world));
      for (; day < this.plan.days; day += 1) {
        await this.liveThrough(day);
        if (day % this.plan.restDays === this.plan.restDays - 1) await this.rest();
      }
      await this.rest();
    } catch (error) {
      throw new Error(`seed ${this.plan.seed}, day ${day}, after ${this.lastAct}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
  }

  private async liveThrough(day: number): Promise<void> {
    if (this.random(12) === 0) this.workerBackOn = day + 1 + this.random(3);
    for (const [index, script] of scripts.entries()) {
      const [act, actor] = [script[day], this.actors[index]];
      if (!act || !actor) continue;
      this.lastAct = `person ${index} of the scripts`;
      await act(this, actor);
      await checkWallet(this.world, actor);
    }
    for (const actor of this.actors.slice(scripts.length)) {
      if (this.random(100) >= this.plan.busyPercent) continue;
      this.strikeStripe();
      this.lastAct = await actSomehow(this, actor);
      this.world.setApiFaults([]);
      await checkWallet(this.world, actor);
      // Some go through everything twice, at once.
      if (this.random(10) === 0) await Promise.all([this.deliverSome(), this.deliverSome()]);
    }
    await this.moveTo(addMilliseconds(this.world.clock.now(), dayMs), day);
    await checkLedger(this.world, this.actors);
  }

  /** Now and then one of the next calls of Stripe's API fails, before the work or after it. */
  private strikeStripe(): void {
    if (this.random(12) > 0) return;
    const kinds = ["server_error", "rate_limited", "cut", "cut_after_work"] as const;
    this.world.setApiFaults([{ kind: kinds[this.random(kinds.length)] ?? "cut", count: 1 + this.random(3) }]);
  }

  private async moveTo(target: Date, day: number): Promise<void> {
    while (this.world.clock.now() < target) {
      await this.world.moveTo(addMilliseconds(this.world.clock.now(), this.plan.stepHours * hourMs), { bringing: false });
      // PostgreSQL's business clock decides who may be erased.
      const offsetMs = Math.max(0, this.world.clock.now().getTime() - Date.now());
      await this.world.database.asOwner(`update business_clock set offset_ms = ${offsetMs}`);
      await this.deliverSome();
      if (day >= this.workerBackOn) await this.work();
    }
    if (day >= this.workerBackOn) await this.reconcile();
  }

  /** Some new events are lost, some come twice, some on another day, and now and then all come in the wrong order. */
  private async deliverSome(): Promise<void> {
    const fresh = await this.world.takeEvents();
    const due = this.late.splice(0, this.random(this.late.length + 1));
    for (const event of fresh) {
      const fate = this.random(100);
      if (fate < 4) continue;
      if (fate < 14) this.late.push(event);
      else due.push(event, ...(fate < 20 ? [event] : []));
    }
    if (this.random(4) === 0) due.sort(() => this.random(3) - 1);
    await this.deliver(due);
  }

  private async deliver(events: readonly Stripe.Event[]): Promise<void> {
    for (const event of events) {
      const { statusCode, body } = await deliver(this.world, JSON.stringify(event));
      if (statusCode !== 200) throw new Error(`webhook answered ${statusCode}: ${body}`);
    }
  }

  /** What the worker does: the recorded events, two at a time, then the sweeps. What fails because of Stripe stays for the next time. */
  private async work(): Promise<void> {
    this.strikeStripe();
    const { db } = this.world.database;
    const waiting = await db.selectFrom("stripe_events").select("id").where("status", "=", "received").orderBy("received_at").execute();
    for (let first = 0; first < waiting.length; first += 2) {
      const pair = waiting.slice(first, first + 2);
      await Promise.all(pair.map(({ id }) => processStripeEvent(this.world.deps, id).catch(refusedByStripe)));
    }
    await this.doJobs();
    this.world.setApiFaults([]);
    const now = this.world.clock.now();
    await postDueScheduledGrants(this.world.deps, now);
    await endGracePeriods(this.world.deps, now);
    await expireDueGrants(this.world.deps, now);
    await advanceTrials(this.world.deps, now);
    await eraseDueAccounts(this.world.deps, now);
    for (const actor of this.actors) if (actor.state === "leaving" && (await isGone(this.world, actor))) actor.state = "gone";
  }

  /** Those that act at Stripe. What fails because of Stripe stays for the next time. */
  private async doJobs(): Promise<void> {
    const { db } = this.world.database;
    const jobs = await db.selectFrom("outbox").selectAll().where("job", "in", stripeJobs).orderBy("id").execute();
    for (const { id, job, payload } of jobs) {
      const run = processors[job as (typeof stripeJobs)[number]];
      const done = await run(this.world.deps, payload as never).then(
        () => true,
        (error: unknown) => {
          this.refusals.set(id, error);
          return refusedByStripe(error);
        },
      );
      if (done) await db.deleteFrom("outbox").where("id", "=", id).execute();
    }
  }

  private async checkJobs(): Promise<void> {
    const { db } = this.world.database;
    for (const { id, job, payload } of await db.selectFrom("outbox").selectAll().where("job", "in", stripeJobs).execute()) {
      const { requestId, reference } = payload as { requestId?: string; reference?: string };
      const waits = requestId !== undefined && (await waitsForBank(this.world, requestId));
      if (!waits && !(reference !== undefined && (await waitsForDebit(this.world, reference))))
        throw new Error(`${job} was never done: ${JSON.stringify(payload)}, ${this.refusals.get(id)}`);
    }
  }

  private async reconcile(): Promise<void> {
    const startedAt = this.world.clock.now();
    await reconcileBilling(this.world.deps, this.lastReconciled);
    this.lastReconciled = startedAt;
  }

  /** Everything late arrives and everything lost is found; then Stripe's books are read. */
  private async rest(): Promise<void> {
    this.lastAct = "everything came to rest";
    for (let round = 0; round < 4; round += 1) {
      await this.deliver([...this.late.splice(0), ...(await this.world.takeEvents())]);
      await this.work();
      await this.work();
      await this.reconcile();
    }
    await this.checkJobs();
    await checkLedger(this.world, this.actors);
    await checkAgainstStripe(this.world, this.actors);
  }
}

/** Does what an operator does who sells from Germany to the whole European Union. */
async function switchTaxOn(payments: Stripe): Promise<void> {
  await payments.tax.settings.update({ head_office: { address: { country: "DE" } } });
  await payments.tax.registrations.create({ country: "DE", active_from: "now", country_options: { de: { type: "oss_union" } } });
}

/** Whether the payment to be refunded is disputed, or its dispute was won: then an operator has to refund it. */
async function waitsForBank({ database: { db }, deps }: BillingWorld, requestId: string): Promise<boolean> {
  const request = await db.selectFrom("money_backs").select("charge_id").where("id", "=", requestId).executeTakeFirstOrThrow();
  return request.charge_id !== null && (await deps.payments.charges.retrieve(request.charge_id)).disputed;
}

/** Whether the invoice of a recorded transfer is being debited. */
async function waitsForDebit(world: BillingWorld, reference: string): Promise<boolean> {
  const transfers = world.database.db.selectFrom("bank_transfers").select("invoice_id").where("reference", "=", reference);
  return isDebited(world, (await transfers.executeTakeFirstOrThrow()).invoice_id);
}

async function isGone(world: BillingWorld, { userId }: Actor): Promise<boolean> {
  return !(await world.database.db.selectFrom("users").select("id").where("id", "=", userId).executeTakeFirst());
}

/** Swallows what Stripe's failures cause; a mistake of ours goes on. */
function refusedByStripe(error: unknown): undefined {
  const cause = error instanceof Error && error.cause ? error.cause : error;
  if (!(cause instanceof Error && "rawType" in cause) && !(cause instanceof Error && /^Stripe/.test(cause.constructor.name))) throw error;
}

/** Throws with the seed, the day and the last act if a guarantee does not hold. */
export async function simulateBilling(world: BillingWorld, plan: Plan): Promise<void> {
  await new Simulation(world, plan).run();
}
