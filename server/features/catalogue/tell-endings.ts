/** Tells those who used a model lately that it is about to end: one mail for each person and model. */
import { sql } from "kysely";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { Model } from "#domain/models.ts";
import { modelState, startOf } from "#domain/models.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { queueMail } from "../notifications/service.ts";
import type { MailParameters } from "../notifications/templates.ts";
import { offeredModels, successorOf } from "./service.ts";

const template = "model-ending";
/** Who has not used a model for this long is not told of its end. */
const usedWithinDays = 30;
const pageSize = 200;

type TellDeps = Pick<Deps, "clock" | "config" | "db" | "switches">;

interface End {
  modelId: string;
  mail: MailParameters["model-ending"];
}

/** As the mail names it: by its id, which also workers of the release before know, or an own model, of which they knew nothing, by its name. */
const called = ({ id, name, own }: Model) => (own ? name : id);

/** What the mail says, of the model that follows at its price of that day. `model` is at today's price. */
function endOf(deps: TellDeps, model: Model, until: string): End {
  const end = startOf(until);
  const successor = successorOf({ ...deps, clock: { ...deps.clock, now: () => end } }, model);
  const mail = { model: called(model), endsAt: end.toISOString() };
  if (!successor) return { modelId: model.id, mail: { ...mail, variant: "alone" } };
  const isSamePrice = successor.credits === model.credits && successor.unit === model.unit;
  return { modelId: model.id, mail: { ...mail, successor: called(successor), ...(!isSamePrice && { variant: "priced" as const }) } };
}

/** Accounts that used the model since then and were not told, those first whose last day is longest ago. */
async function selectUntold(executor: Executor, modelId: string, since: Date): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select billing_account_id as id from model_accounts
    where model_id = ${modelId} and not told and last_day >= (${since}::timestamptz at time zone 'UTC')::date
    order by last_day limit ${pageSize}`.execute(executor);
  return rows.map(({ id }) => id);
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

/** Reads those who are still to be told, and nobody else: an hour in which nobody new used the model costs one look at an index. */
async function tellOf(deps: TellDeps, model: Model, until: string, now: Date, stopping: AbortSignal): Promise<number> {
  const end = endOf(deps, model, until);
  const since = addMilliseconds(now, -usedWithinDays * dayMs);
  let told = 0;
  for (;;) {
    const payers = await selectUntold(deps.db, model.id, since);
    for (const payerId of payers) {
      if (stopping.aborted) return told;
      told += await inTransaction(deps.db, (trx) => tellAccount(trx, payerId, end, since, now));
    }
    if (payers.length < pageSize) return told;
  }
}

/** Queues what is due; running again sends nothing more. Returns how many mails. */
export async function tellOfEndings(deps: TellDeps, stopping: AbortSignal): Promise<number> {
  const now = deps.clock.now();
  let told = 0;
  for (const model of offeredModels(deps)) {
    if (model.until !== undefined && modelState(model, now) === "announced") told += await tellOf(deps, model, model.until, now, stopping);
  }
  return told;
}
