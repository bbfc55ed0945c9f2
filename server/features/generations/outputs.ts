/** Stores what models make as files of the person. */
import { setTimeout as delay } from "node:timers/promises";
import { DomainError } from "#domain/errors.ts";
import type { FileInfo } from "../../contract/files.ts";
import type { Deps } from "../../deps.ts";
import type { NewFile } from "../files/service.ts";
import { storeFile } from "../files/service.ts";
import type { RunningAnswer } from "./running-answer.ts";

const storeAttempts = 3;
const storeAgainMs = 500;
const nameCodePoints = 60;

export function shortened(text: string, codePoints: number): string {
  const points = [...text.replace(/\s+/g, " ")];
  return points.length > codePoints ? `${points.slice(0, codePoints - 1).join("")}…` : points.join("");
}

/** The name of a file that was made for this prompt. */
export function outputName(prompt: string): string {
  return shortened(prompt, nameCodePoints);
}

export function promptOf({ start }: RunningAnswer): string {
  return start.messages.at(-1)?.content ?? "";
}

type Measures = Pick<NewFile, "width" | "height" | "durationMs">;

/** Tries again if the storage fails for a moment, so that what was made is not lost. Throws if the answer was ended or deleted meanwhile. */
export async function keepOutput(deps: Deps, answer: RunningAnswer, measures: Measures, bytes: Uint8Array): Promise<FileInfo> {
  const { id: generationId, userId } = answer.start;
  const file = { userId, generationId, kind: "output", name: outputName(promptOf(answer)), ...measures } as const;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await storeFile(deps, file, bytes);
    } catch (error) {
      if (error instanceof DomainError || attempt === storeAttempts) throw error;
      await delay(storeAgainMs);
    }
  }
}
