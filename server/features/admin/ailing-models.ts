/** Which models need a team member: those that fail, and those that leave soon. */
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { AdminModel } from "../../contract/admin/models.ts";
import type { AilingModel } from "../../contract/admin/needs.ts";
import type { Deps } from "../../deps.ts";
import { listAdminModels } from "./models.ts";

/** With fewer answers in the hour, the share of failed ones is too uncertain to report. */
const fewestAnswers = 6;
const endingDays = 7;

function whyOf({ state, until, lastHour: { answers, failed } }: AdminModel, endsBefore: string): AilingModel["why"] | undefined {
  if (state === "paused") return "paused";
  if (state !== "offered" && state !== "announced") return undefined;
  if (answers >= fewestAnswers && failed * 2 >= answers) return "failing";
  return until !== null && until <= endsBefore ? "ending" : undefined;
}

/** Those that fail first. */
export async function readAilingModels(
  deps: Pick<Deps, "db" | "config" | "clock" | "models" | "switches" | "live" | "log">,
): Promise<AilingModel[]> {
  const endsBefore = addMilliseconds(deps.clock.now(), endingDays * dayMs)
    .toISOString()
    .slice(0, 10);
  const ailing = (await listAdminModels(deps, {})).flatMap((model): AilingModel[] => {
    const why = whyOf(model, endsBefore);
    const { id, name, until, lastHour } = model;
    return why === undefined ? [] : [{ id, name, why, ...lastHour, until }];
  });
  const order = ["paused", "failing", "ending"];
  return ailing.toSorted((one, other) => order.indexOf(one.why) - order.indexOf(other.why));
}
