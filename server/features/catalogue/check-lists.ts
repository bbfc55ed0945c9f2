/**
 * Compares the catalogue with what the providers say they serve, once a day. What differs is a finding for the operator: a model changes by
 * a release or by `MODELS_FILE`, never by itself.
 */
import { sql } from "kysely";
import type { FindingKind } from "#domain/findings.ts";
import type { Model, Provider } from "#domain/models.ts";
import { isBuilt, modelsAt, providers } from "#domain/models.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { ListedModel } from "../../providers/models/model-list.ts";
import { recordFinding, resolveSubjects } from "../findings/service.ts";
import { isAvailable, soldModel } from "./service.ts";

type CheckDeps = Pick<Deps, "config" | "clock" | "db" | "log" | "models">;

const kinds = ["model_gone", "model_ending"] as const satisfies FindingKind[];

/** True for one worker a day, of wall time: the lists are the providers', whom no sandbox's clock moves. */
async function claimToday(executor: Executor): Promise<boolean> {
  const claimed = await sql`insert into schedules as known (name, due_at) values ('model-lists', now() + interval '1 day')
    on conflict (name) do update set due_at = excluded.due_at where known.due_at <= now() returning name`.execute(executor);
  return claimed.rows.length > 0;
}

function differenceOf(model: Model, listed: readonly ListedModel[]): (typeof kinds)[number] | undefined {
  const found = listed.find(({ id }) => id === model.upstreamModel);
  if (!found) return "model_gone";
  const isEarlier = found.shutdownDate !== null && (model.until === undefined || found.shutdownDate < model.until);
  return isEarlier ? "model_ending" : undefined;
}

async function checkProvider(deps: CheckDeps, provider: Provider, models: readonly Model[]): Promise<void> {
  const listed = await deps.models.list(provider);
  // An empty list says that the address has no list, not that the provider has no models.
  if (!listed || listed.length === 0) return;
  const now = deps.clock.now();
  for (const model of models) {
    const kind = differenceOf(model, listed);
    const { id: subject, upstreamModel, until = null } = model;
    if (kind) {
      const shutdownDate = listed.find(({ id }) => id === upstreamModel)?.shutdownDate ?? null;
      const details = { provider, upstreamModel, until, shutdownDate };
      await recordFinding(deps.db, { kind, subject, payerId: null, details }, null, now);
      deps.log.warn({ kind, model: subject, ...details }, "the catalogue and its provider's list of models differ");
    }
    await resolveSubjects(
      deps.db,
      kinds.filter((other) => other !== kind),
      [subject],
      now,
    );
  }
}

/** Asks every provider whose models are offered, if that was not done in the last day. One that can't be asked is asked again the next day. */
export async function checkModelLists(deps: CheckDeps, stopping: AbortSignal): Promise<void> {
  if (!(await claimToday(deps.db))) return;
  const offered = modelsAt(deps.clock.now()).flatMap(({ id }) => soldModel(deps, id) ?? []);
  for (const provider of providers) {
    const models = offered.filter((model) => model.provider === provider && isBuilt(model) && isAvailable(deps, model));
    if (stopping.aborted || models.length === 0) continue;
    await checkProvider(deps, provider, models).catch((error: unknown) =>
      deps.log.warn({ err: error, provider }, "a provider's list of models could not be read"),
    );
  }
}
