/**
 * Compares the catalogue with what the providers say they serve, once a day. What differs is a finding for the operator: a model changes by
 * a release or by `MODELS_FILE`, never by itself.
 */
import { sql } from "kysely";
import { addMilliseconds, minuteMs } from "#domain/clock.ts";
import type { FindingKind } from "#domain/findings.ts";
import type { Model } from "#domain/models.ts";
import { catalogue } from "#domain/models.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { failureKind } from "../../failures.ts";
import type { ListedModel } from "../../providers/models/model-list.ts";
import { KeyRefused } from "../../providers/models/model-list.ts";
import { recordFinding, resolveOthers, resolveSubjects } from "../findings/service.ts";
import { checkOffer } from "./check-offer.ts";
import { findListed, splitDate } from "./dated-models.ts";
import { isAvailable, offeredModels, soldModel } from "./service.ts";

type CheckDeps = Pick<Deps, "config" | "clock" | "db" | "log" | "models" | "switches">;

/** About a model, and about a provider. */
const kinds = ["model_gone", "model_ending"] as const satisfies FindingKind[];
const kindsOfProviders = ["model_key_refused", "models_unknown"] as const satisfies FindingKind[];

/** True for one worker a day, by business time, because the sandbox's lists follow its clock. */
async function claimToday(executor: Executor, now: Date): Promise<boolean> {
  const claimed = await sql`insert into schedules as known (name, due_at) values ('model-lists', ${now}::timestamptz + interval '1 day')
    on conflict (name) do update set due_at = excluded.due_at where known.due_at <= ${now} returning name`.execute(executor);
  return claimed.rows.length > 0;
}

async function askAgainSoon({ db, clock }: CheckDeps): Promise<void> {
  const soon = addMilliseconds(clock.now(), 30 * minuteMs);
  await sql`update schedules set due_at = least(due_at, ${soon}) where name = 'model-lists'`.execute(db);
}

function differenceOf(model: Model, found: ListedModel | undefined): (typeof kinds)[number] | undefined {
  if (!found) return "model_gone";
  const isEarlier = found.shutdownDate !== null && (model.until === undefined || found.shutdownDate < model.until);
  return isEarlier ? "model_ending" : undefined;
}

const namedUnknown = 20;

/** What its list has and our catalogue never had. One finding for all of them, because most are of no use to us. */
async function checkUnknown(deps: CheckDeps, provider: Model["provider"], listed: readonly ListedModel[]): Promise<void> {
  const known = new Set([...catalogue, ...deps.config.ownModels].flatMap(({ id }) => [id, soldModel(deps, id)?.upstreamModel]));
  const unknown = listed.map(({ id }) => id).filter((id) => !known.has(id) && !known.has(splitDate(provider, id).name));
  const details = { count: unknown.length, models: unknown.toSorted().slice(0, namedUnknown).join(", ") };
  if (unknown.length === 0) return resolveSubjects(deps.db, ["models_unknown"], [provider], deps.clock.now());
  await recordFinding(deps.db, { kind: "models_unknown", subject: provider, payerId: null, details }, null, deps.clock.now());
}

async function checkProvider(deps: CheckDeps, provider: Model["provider"], models: readonly Model[]): Promise<void> {
  const listed = await deps.models.list(provider);
  // An empty list says that the address has no list, not that the provider has no models.
  if (!listed || listed.length === 0) return;
  const now = deps.clock.now();
  await resolveSubjects(deps.db, ["model_key_refused"], [provider], now);
  await checkUnknown(deps, provider, listed);
  for (const model of models) {
    const found = findListed(provider, model.upstreamModel, listed);
    const kind = differenceOf(model, found);
    const { id: subject, upstreamModel, until = null } = model;
    if (kind) {
      const shutdownDate = found?.shutdownDate ?? null;
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

async function tellFailure(deps: CheckDeps, provider: Model["provider"], error: unknown): Promise<void> {
  await askAgainSoon(deps);
  if (error instanceof KeyRefused) {
    await recordFinding(deps.db, { kind: "model_key_refused", subject: provider, payerId: null, details: {} }, null, deps.clock.now());
    deps.log.warn({ provider }, "a provider refuses our key");
    return;
  }
  // At a first start the sandbox may start after the worker. And people who ask a model are told of an outage there.
  const level = failureKind(error) === "outage" ? "info" : "warn";
  deps.log[level]({ err: error, provider }, "a provider's list of models could not be read");
}

/**
 * Resolves findings about models that are not asked any more, because they have ended or somebody has switched them off, and about
 * providers none of whose models is asked. Usually the operator has done so on the finding's advice.
 */
async function resolveUnasked({ db, clock }: CheckDeps, asked: readonly Model[]): Promise<void> {
  const ids = asked.map(({ id }) => id);
  const providers = [...new Set(asked.map(({ provider }) => provider))];
  for (const kind of kinds) await resolveOthers(db, kind, ids, clock.now());
  for (const kind of kindsOfProviders) await resolveOthers(db, kind, providers, clock.now());
}

/**
 * Asks each provider of offered models for its list, unless that was done within the last day. If one list can't be read, all are asked
 * again within the hour. Findings that no longer apply are resolved each time.
 */
export async function checkModelLists(deps: CheckDeps, stopping: AbortSignal): Promise<void> {
  const asked = offeredModels(deps)
    .flatMap(({ id }) => soldModel(deps, id) ?? [])
    .filter((model) => isAvailable(deps, model));
  await resolveUnasked(deps, asked);
  if (!(await claimToday(deps.db, deps.clock.now()))) return;
  await checkOffer(deps);
  for (const provider of new Set(asked.map((model) => model.provider))) {
    const models = asked.filter((model) => model.provider === provider);
    if (stopping.aborted) continue;
    await checkProvider(deps, provider, models).catch((error: unknown) => tellFailure(deps, provider, error));
  }
}
