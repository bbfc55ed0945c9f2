/** The people of the billing simulation, and how they reach the product and Stripe. */
import type Stripe from "stripe";
import { signAccessToken } from "#server/features/auth/tokens.ts";
import type { BillingWorld } from "./billing-stripe.ts";
import type { Person } from "./billing-world.ts";
import { payerIdOf } from "./payers.ts";

export interface Actor extends Person {
  payerId: string;
  walletId: string;
  /** Everybody has a network of their own, with its own limits. */
  address: string;
  /** An access token lasts ten minutes, less than a long run, so each call has one of its own. */
  sessionId: string;
  /** `leaving`: the account was deleted and can be restored. */
  state: "here" | "leaving" | "gone";
  /** At Stripe; kept here because nothing leads to it once the account is gone. */
  customer?: string;
  /** What the person has spent so far, as the person counts it. */
  spent: number;
}

export interface Stage {
  world: BillingWorld;
  /** A member of the team. */
  admin: Actor;
  random: (below: number) => number;
  /** Stripe Tax is on. */
  taxed: boolean;
}

/** Performs the act, or does nothing if the person can't do it now. */
export type Act = (stage: Stage, actor: Actor) => Promise<void>;

/** Refusals that people meet, and outages of Stripe. Anything else is a fault of the product. */
const allowed = new Set([200, 202, 204, 402, 403, 409, 429, 502, 503]);

/** Posts `payload`, or sends a request without one. Undefined if the call was refused. */
export async function call(
  { world }: Pick<Stage, "world">,
  actor: Actor,
  path: string,
  payload: Record<string, unknown> | "GET" | "DELETE" = {},
): Promise<Record<string, unknown> | undefined> {
  const authorization = `Bearer ${signAccessToken(world.app, { sub: actor.userId, sid: actor.sessionId })}`;
  const request = { url: path, headers: { authorization }, remoteAddress: actor.address } as const;
  const response = await world.app.inject(
    typeof payload === "string" ? { ...request, method: payload } : { ...request, method: "POST", payload },
  );
  if (!allowed.has(response.statusCode)) throw new Error(`${path} answered ${response.statusCode}: ${response.body}`);
  return response.statusCode < 300 && response.body !== "" ? response.json<Record<string, unknown>>() : undefined;
}

export async function customerOf({ world }: Stage, { payerId }: Actor): Promise<string | undefined> {
  const accounts = world.database.db.selectFrom("billing_accounts").select("stripe_customer_id").where("id", "=", payerId);
  return (await accounts.executeTakeFirst())?.stripe_customer_id ?? undefined;
}

/** The newest subscription that has not ended, as Stripe knows it. */
export async function runningOf(stage: Stage, actor: Actor): Promise<Stripe.Subscription | undefined> {
  const customer = await customerOf(stage, actor);
  if (customer === undefined) return undefined;
  const { data } = await stage.world.deps.payments.subscriptions.list({ customer, limit: 10 });
  return data.find(({ status }) => status === "active" || status === "past_due");
}

/** The customer's payments, newest first. */
export async function chargesOf(stage: Stage, actor: Actor): Promise<Stripe.Charge[]> {
  const customer = await customerOf(stage, actor);
  if (customer === undefined) return [];
  return (await stage.world.deps.payments.charges.list({ customer, limit: 20 })).data.filter(({ paid }) => paid);
}

function addressOf(userId: string): string {
  return `10.${[...Buffer.from(userId.slice(-6), "hex")].join(".")}`;
}

export async function createActor(world: BillingWorld): Promise<Actor> {
  const person = await world.person();
  const { db } = world.database;
  const payerId = await payerIdOf(db, person.userId);
  const wallet = await db.selectFrom("wallets").select("id").where("billing_account_id", "=", payerId).executeTakeFirstOrThrow();
  const session = await db.selectFrom("auth_sessions").select("id").where("user_id", "=", person.userId).executeTakeFirstOrThrow();
  return { ...person, payerId, walletId: wallet.id, sessionId: session.id, address: addressOf(person.userId), spent: 0, state: "here" };
}
