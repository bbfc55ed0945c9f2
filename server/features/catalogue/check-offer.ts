/**
 * Tells the operator, once a day, that too little is offered with today's keys and switches, or soon will be, and that the facts of the release
 * are old. Providers end models faster than releases come.
 */
import type { Clock } from "#domain/clock.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { FindingDetails, FindingKind } from "#domain/findings.ts";
import type { Model } from "#domain/models.ts";
import { catalogue, catalogueAsOf, isOffered, startOf } from "#domain/models.ts";
import type { Deps } from "../../deps.ts";
import { recordFinding, resolveSubjects } from "../findings/service.ts";
import { isAvailable } from "./service.ts";

type OfferDeps = Pick<Deps, "config" | "db" | "models" | "switches"> & { clock: Clock };

/** The product promises this many models, and some of every kind. */
const fewestModels = 15;
const daysAhead = 30;
/** After this many days the facts count as old. */
const factDays = 60;
const subject = "catalogue";

const kindOf = ({ category, unit }: Pick<Model, "category" | "unit">) =>
  category === "audio" ? (unit === "minute" ? "transcripts" : "speech") : category;
const kinds = new Set(catalogue.map(kindOf));

/** What is missing on this day. */
function shortageOn(models: readonly Model[], day: Date): { count: number; missing: string } | undefined {
  const offered = models.filter((model) => isOffered(model, day));
  const missing = [...kinds].filter((kind) => !offered.some((model) => kindOf(model) === kind)).join(", ");
  return offered.length < fewestModels || missing !== "" ? { count: offered.length, missing } : undefined;
}

/** The first shortage within a month. `day`: null if it is here today, so that the finding does not change every day. */
function findShortage(deps: OfferDeps): FindingDetails | undefined {
  const models = [...catalogue, ...deps.config.ownModels].filter((model) => isAvailable(deps, model));
  for (let ahead = 0; ahead <= daysAhead; ahead += 1) {
    const day = addMilliseconds(deps.clock.now(), ahead * dayMs);
    const shortage = shortageOn(models, day);
    if (shortage) return { day: ahead === 0 ? null : day.toISOString().slice(0, 10), ...shortage };
  }
  return undefined;
}

/** With today's keys and switches. */
export async function checkOffer(deps: OfferDeps): Promise<void> {
  const now = deps.clock.now();
  const tell = async (kind: FindingKind, details: FindingDetails | undefined) =>
    details
      ? recordFinding(deps.db, { kind, subject, payerId: null, details }, null, now)
      : resolveSubjects(deps.db, [kind], [subject], now);
  await tell("models_few", findShortage(deps));
  const isOld = now >= addMilliseconds(startOf(catalogueAsOf), factDays * dayMs);
  await tell("model_facts_old", isOld ? { asOf: catalogueAsOf } : undefined);
}
