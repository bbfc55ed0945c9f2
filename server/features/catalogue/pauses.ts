/**
 * Only workers ask for clips, so only they notice that their model is out of order. They tell the others, so that the list of models says it and
 * nobody waits in the queue for it (decision 76). A process that misses the event goes on offering the model.
 */
import type { Model } from "#domain/models.ts";
import type { Deps } from "../../deps.ts";
import { nobody, soldModel } from "./service.ts";

/** Announces it to the other processes if the model is paused for everybody. Never throws. */
export async function tellPause({ live, models, log }: Pick<Deps, "live" | "models" | "log">, model: Model): Promise<void> {
  const pauseMs = Math.ceil(models.waitMs(model, nobody));
  if (pauseMs === 0) return;
  await live
    .publish({ userId: `${model.id}:${pauseMs}`, table: "models" })
    .catch((error: unknown) => log.warn({ err: error, model: model.id }, "the pause of a model could not be announced"));
}

/** Applies pauses that other processes tell. Returns a function that stops. */
export function followPauses(deps: Pick<Deps, "config" | "live" | "models">): () => void {
  return deps.live.subscribe((event) => {
    if (event === "resync" || event.table !== "models") return;
    const [id = "", pauseMs = ""] = event.userId.split(":");
    const model = soldModel(deps, id);
    if (model && /^\d{1,7}$/.test(pauseMs)) deps.models.pausedElsewhere(model, Number(pauseMs));
  });
}
