/**
 * Models that admins have switched off, and prices that they have planned (decision 87). Every process keeps these few rows in memory, because
 * each start of an answer asks for them.
 */
import { sql } from "kysely";
import { DomainError } from "#domain/errors.ts";
import { recordAct } from "../../db/audit.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { keepCurrent } from "../../http/keep-current.ts";
import type { ModelSwitch, OffTexts } from "../../model-switches.ts";

type SwitchDeps = Pick<Deps, "db" | "live" | "log" | "switches">;

const readEveryMs = 15_000;
/** The `userId` of `models` events about switches and prices. Events of pauses.ts name a model there. */
const switchesChanged = "switches";

async function read({ db, switches }: Pick<Deps, "db" | "switches">): Promise<void> {
  const [rows, planned] = await Promise.all([
    db.selectFrom("model_switches").selectAll().execute(),
    db
      .selectFrom("model_prices")
      .select(["model_id", dayOf("begins_on").as("beginsOn"), "credits"])
      .orderBy("begins_on")
      .execute(),
  ]);
  const changedTo = rows.map((row): [string, ModelSwitch] => [
    row.model_id,
    { off: row.is_off, texts: row.texts, version: row.version, changedAt: row.changed_at },
  ]);
  switches.replace({ switches: new Map(changedTo), prices: Map.groupBy(planned, (price) => price.model_id) });
}

const dayOf = (column: "begins_on") => sql<string>`to_char(${sql.ref(column)}, 'YYYY-MM-DD')`;

/** Reads the switches and prices, and follows their changes. Returns a function that stops. */
export async function followSwitches(deps: SwitchDeps): Promise<() => void> {
  return keepCurrent(deps, {
    read: () => read(deps),
    concerns: ({ table, userId }) => table === "models" && userId === switchesChanged,
    everyMs: readEveryMs,
    unreadable: "which models are switched off could not be read, will be tried again",
  });
}

/** Has every process read what was changed, this one first. */
async function tell(deps: SwitchDeps): Promise<void> {
  await read(deps).catch((error: unknown) => deps.log.warn({ err: error }, "a changed switch or price could not be read"));
  await deps.live
    .publish({ userId: switchesChanged, table: "models" })
    .catch((error: unknown) => deps.log.warn({ err: error }, "a changed switch or price could not be announced to the other processes"));
}

interface Switching {
  modelId: string;
  off: boolean;
  texts: OffTexts;
  /** The version that the admin saw; 0: the model had never been switched. */
  version: number;
  reason: string;
}

/** Throws `conflict` if the switch is not as the admin saw it. Running answers are not stopped. */
export async function switchModel(
  deps: SwitchDeps & Pick<Deps, "clock">,
  clerk: Clerk,
  { modelId, off, texts, version, reason }: Switching,
): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const { rows } = await sql`
      insert into model_switches as known (model_id, is_off, texts, version, changed_at)
      select ${modelId}, ${off}, ${JSON.stringify(texts)}::jsonb, 1, ${deps.clock.now()}
        where ${version} = 0 or exists (select from model_switches where model_id = ${modelId})
      on conflict (model_id) do update set is_off = excluded.is_off, texts = excluded.texts, version = known.version + 1,
        changed_at = excluded.changed_at where known.version = ${version}
      returning model_id`.execute(trx);
    if (rows.length === 0) throw new DomainError("conflict", "Somebody has switched this model meanwhile");
    const action = off ? "model.switched_off" : "model.switched_on";
    const act = { actor: clerk.userId, subject: null, network: clerk.network, details: { model: modelId }, reason };
    await recordAct(trx, { ...act, action });
  })
    // After a conflict too, so that the admin who is told of it sees the switch as it is now.
    .finally(() => tell(deps));
}

interface Pricing {
  modelId: string;
  credits: number;
  /** A day in UTC that has not begun. */
  beginsOn: string;
  reason: string;
}

const todayOf = ({ clock }: Pick<Deps, "clock">) => clock.now().toISOString().slice(0, 10);
type Clerk = { userId: string; network: string };

/** Throws `conflict` for a day that has begun, or for which a price is planned already. */
export async function planPrice(
  deps: SwitchDeps & Pick<Deps, "clock">,
  clerk: Clerk,
  { modelId, credits, beginsOn, reason }: Pricing,
): Promise<void> {
  if (beginsOn <= todayOf(deps)) throw new DomainError("conflict", "A price begins on a day to come");
  await inTransaction(deps.db, async (trx) => {
    const planned = { model_id: modelId, begins_on: beginsOn, credits, planned_at: deps.clock.now() };
    const written = await trx
      .insertInto("model_prices")
      .values(planned)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (written.numInsertedOrUpdatedRows !== 1n) throw new DomainError("conflict", "Another price begins on that day");
    const details = { model: modelId, credits, beginsOn };
    await recordAct(trx, { actor: clerk.userId, subject: null, network: clerk.network, details, reason, action: "model.price_planned" });
  }).finally(() => tell(deps));
}

/** Throws `not_found` for a day that has begun, and `conflict` if the price planned for that day is not the one that the admin saw. */
export async function dropPrice(
  deps: SwitchDeps & Pick<Deps, "clock">,
  clerk: Clerk,
  { modelId, beginsOn, credits, reason }: Pricing,
): Promise<void> {
  if (beginsOn <= todayOf(deps)) throw new DomainError("not_found", "No price to come begins on that day");
  await inTransaction(deps.db, async (trx) => {
    const dropped = await trx
      .deleteFrom("model_prices")
      .where("model_id", "=", modelId)
      .where("begins_on", "=", beginsOn)
      .where("credits", "=", credits)
      .executeTakeFirst();
    if (dropped.numDeletedRows !== 1n) throw new DomainError("conflict", "Somebody has dropped or replaced this price meanwhile");
    const details = { model: modelId, credits, beginsOn };
    await recordAct(trx, { actor: clerk.userId, subject: null, network: clerk.network, details, reason, action: "model.price_dropped" });
  }).finally(() => tell(deps));
}
