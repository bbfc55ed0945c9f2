/** Tells those who used a model lately that it is about to end: one mail for each person and model. */
import { sql } from "kysely";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { Model } from "#domain/models.ts";
import { modelState, startOf } from "#domain/models.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { notSetAside, sweepPage, sweepRows } from "../../queue/sweep-rows.ts";
import { queueMail } from "../notifications/service.ts";
import type { MailParameters } from "../notifications/templates.ts";
import { offeredModels, successorOf } from "./service.ts";

const template = "model-ending";
/** Somebody who has not used a model for this many days is not told of its end. */
const usedWithinDays = 30;

type TellDeps = Pick<Deps, "clock" | "config" | "db" | "log" | "switches">;

interface End {
  modelId: string;
  mail: MailParameters["model-ending"];
}

/** How the mail's row names a model: by its id or, for one of the operator's own, by its name, since older workers don't know those. */
const called = ({ id, name, own }: Model) => (own ? name : id);

/** What the mail says. The model that follows has its price of that day, `model` today's price. */
function endOf(deps: TellDeps, model: Model, until: string): End {
  const end = startOf(until);
  const successor = successorOf({ ...deps, clock: { ...deps.clock, now: () => end } }, model);
  const mail = { model: called(model), endsAt: end.toISOString() };
  if (!successor) return { modelId: model.id, mail: { ...mail, variant: "alone" } };
  const isSamePrice = successor.credits === model.credits && successor.unit === model.unit;
  return { modelId: model.id, mail: { ...mail, successor: called(successor), ...(!isSamePrice && { variant: "priced" as const }) } };
}

/** An account that is to be told of the end of a model. */
interface Untold {
  end: End;
  payerId: string;
}

/** As `selectUntold` writes it. */
const keyOf = ({ end, payerId }: Untold) => `${end.modelId} ${payerId}`;

/**
 * Accounts that used the model since then and were not told, without those that are set aside for this model. Those that used it longest
 * ago come first.
 */
async function selectUntold(executor: Executor, end: End, since: Date, most: number): Promise<Untold[]> {
  const { rows } = await sql<{ id: string }>`select billing_account_id as id from model_accounts
    where model_id = ${end.modelId} and not told and last_day >= (${since}::timestamptz at time zone 'UTC')::date
      and ${notSetAside("model-endings", sql`model_id || ' ' || billing_account_id`)}
    order by last_day limit ${most}`.execute(executor);
  return rows.map(({ id: payerId }) => ({ end, payerId }));
}

interface Reader {
  user_id: string;
  email: string;
  language: string;
}

/** Those of the account's members who asked the model since then. */
async function selectReaders(executor: Executor, payerId: string, modelId: string, since: Date): Promise<Reader[]> {
  const { rows } = await sql<Reader>`
    select users.id as user_id, identities.subject as email, users.language
    from (select distinct user_id from generations where payer_id = ${payerId} and asked_at >= ${since} and model_id = ${modelId}) asked
    join users on users.id = asked.user_id and users.delete_at is null
    join identities on identities.user_id = users.id and identities.kind = 'email' and identities.verified_at is not null`.execute(
    executor,
  );
  return rows;
}

/** The account is told once, whoever of its members asked then. Returns how many mails. */
async function tellAccount(trx: Trx, payerId: string, end: End, since: Date, now: Date): Promise<number> {
  let told = 0;
  for (const { user_id: userId, email: recipient, language } of await selectReaders(trx, payerId, end.modelId, since)) {
    const mail = { key: `${template}:${end.modelId}:${userId}`, userId, recipient, template, language, parameters: end.mail } as const;
    if (await queueMail(trx, mail, now)) told += 1;
  }
  await trx
    .updateTable("model_accounts")
    .set({ told: true })
    .where("model_id", "=", end.modelId)
    .where("billing_account_id", "=", payerId)
    .execute();
  return told;
}

/** The next accounts to be told of any of the ends. An hour in which nobody new used the models costs one look at an index for each of them. */
async function nextUntold(executor: Executor, ends: readonly End[], since: Date): Promise<Untold[]> {
  const found: Untold[] = [];
  for (const end of ends) {
    if (found.length === sweepPage) break;
    found.push(...(await selectUntold(executor, end, since, sweepPage - found.length)));
  }
  return found;
}

/** Queues what is due; running again sends nothing more. Returns how many mails. */
export async function tellOfEndings(deps: TellDeps, stopping: AbortSignal): Promise<number> {
  const now = deps.clock.now();
  const since = addMilliseconds(now, -usedWithinDays * dayMs);
  const ends = offeredModels(deps).flatMap((model) =>
    model.until !== undefined && modelState(model, now) === "announced" ? [endOf(deps, model, model.until)] : [],
  );
  let told = 0;
  const tell = async ({ end, payerId }: Untold) => {
    const mails = await inTransaction(deps.db, (trx) => tellAccount(trx, payerId, end, since, now));
    told += mails;
    return mails > 0;
  };
  await sweepRows(deps, "model-endings", () => nextUntold(deps.db, ends, since), keyOf, tell, stopping);
  return told;
}
