import { useTranslation } from "react-i18next";
import { knownModel } from "#client/lib/known-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { seesPictures, takesPdf } from "#domain/attachments.ts";
import { clipSeconds, clipShapes } from "#domain/clips.ts";
import { pictureLimits, pictureSizes } from "#domain/pictures.ts";
import { speechLimits } from "#domain/speech.ts";
import { recordingLimits, recordingSecondsOf } from "#domain/transcripts.ts";
import type { OfferedModel } from "./models-store.ts";

/** The tokens of one page of a document, at about 3,000 characters a page. */
const tokensPerPage = 1_800;

/** A model's limits for input and output, one text a line. Empty for text and recording models that this page does not know. */
export function useLimitTexts({ id, unit }: Pick<OfferedModel, "id" | "unit">): readonly string[] {
  const { t } = useTranslation("chat");
  const { number, seconds } = useFormat();
  const model = knownModel(id);
  if (unit === "image") return [t("tile.pictures", { number: number(pictureLimits.count), sizes: number(pictureSizes.length) })];
  if (unit === "clip") return [t("tile.clips", { length: seconds(Math.max(...clipSeconds)), shapes: number(clipShapes.length) })];
  if (unit === "thousand_characters") return [t("tile.characters", { number: number(speechLimits.characters) })];
  if (!model) return [];
  if (unit === "minute")
    return [t("tile.recordings", { minutes: number(recordingSecondsOf(model) / 60), megabytes: number(recordingLimits.megabytes) })];
  const pagesOf = (tokens: number) => Math.max(1, Math.floor(tokens / tokensPerPage));
  return [
    t("tile.pages", { number: number(pagesOf(model.inputTokenLimit)), most: number(pagesOf(model.outputTokenLimit)) }),
    t(takesPdf(model) ? "tile.seesPdf" : seesPictures(model) ? "tile.sees" : "tile.textOnly"),
  ];
}
