/** Tells those who used a model lately that it is about to end: one mail for each person and model. */
import { sql } from "kysely";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { CatalogueModel } from "#domain/models.ts";
import { livingModel, modelState, modelsAt, startOf } from "#domain/models.ts";
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { queueMail } from "../notifications/service.ts";

const template = "model-ending";
/** Who has not used a model for this long is not told of its end. */
const usedWithinDays = 30;
const pageSize = 200;

const keyOf = (modelId: string, userId: string) => `${template}:${modelId}:${userId}`;

interface Reader {
  user_id: string;
  email: string;
  language: string;
}

/** A page of those who used the model since then and were not told, by id. The usage of days leads to the accounts, whose answers have an index. */
async function selectReaders(executor: Executor, modelId: string, since: Date, after: string): Promise<Reader[]> {
  const result = await sql<Reader>`
    select distinct users.id as user_id, identities.subject as email, users.language
    from usage_days
    join generations on generations.payer_id = usage_days.billing_account_id and generations.model_id = usage_days.model_id
      and generations.asked_at >= ${since}
    join users on users.id = generations.user_id and users.delete_at is null
    join identities on identities.user_id = users.id and identities.kind = 'email' and identities.verified_at is not null
    where usage_days.model_id = ${modelId} and usage_days.day >= (${since}::timestamptz at time zone 'UTC')::date and users.id > ${after}::uuid
      and not exists (select from mails where mails.key = ${keyOf(modelId, "")} || users.id)
    order by user_id limit ${pageSize}`.execute(executor);
  return result.rows;
}

type TellDeps = Pick<Deps, "clock" | "db">;

async function tellOf(deps: TellDeps, model: CatalogueModel, until: string, now: Date, stopping: AbortSignal): Promise<number> {
  const successor = livingModel(model.id, startOf(until));
  if (!successor) return 0;
  const parameters = { model: model.id, successor: successor.id, endsAt: startOf(until).toISOString() };
  let told = 0;
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    const readers = await selectReaders(deps.db, model.id, addMilliseconds(now, -usedWithinDays * dayMs), after);
    for (const { user_id: userId, email: recipient, language } of readers) {
      if (stopping.aborted) return told;
      const mail = { key: keyOf(model.id, userId), userId, recipient, template, language, parameters } as const;
      if (await inTransaction(deps.db, (trx) => queueMail(trx, mail, now))) told += 1;
      after = userId;
    }
    if (readers.length < pageSize) return told;
  }
}

/** Queues what is due; running again sends nothing more. Returns how many mails. */
export async function tellOfEndings(deps: TellDeps, stopping: AbortSignal): Promise<number> {
  const now = deps.clock.now();
  let told = 0;
  for (const model of modelsAt(now)) {
    if (model.until !== undefined && modelState(model, now) === "announced") told += await tellOf(deps, model, model.until, now, stopping);
  }
  return told;
}
