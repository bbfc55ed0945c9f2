/** Takes an uploaded file to where it belongs on the device. */
import type { Draft } from "#client/offline/drafts.ts";
import { entryOfDraft, readDraft } from "#client/offline/drafts.ts";
import { entryOfReferences, readReferences } from "#client/offline/references.ts";
import type { Entry } from "#client/offline/store.ts";
import { writeAllStored } from "#client/offline/store.ts";
import type { WaitingFile } from "#client/offline/waiting-files.ts";
import { removalOf, removeWaitingFile } from "#client/offline/waiting-files.ts";
import type { FileInfo } from "#contract/files.ts";
import { isSound } from "#domain/attachments.ts";
import { pictureLimits } from "#domain/pictures.ts";

/** An uploaded picture as a reference from which pictures and clips begin; undefined if the file is no picture. */
export function toReference({ id: fileId, name: alternative, width, height }: FileInfo) {
  return width === null || height === null ? undefined : { fileId, alternative, width, height };
}

/** The draft with a file that was uploaded for it. There is one recording at a time. */
export function withFile(draft: Draft, info: FileInfo): Draft {
  const others = (draft.files ?? []).filter((file) => file.id !== info.id && !(isSound(info) && isSound(file)));
  return { ...draft, files: [...others, info], unsettledKey: null };
}

async function entryFor({ owner, purpose, threadKey }: WaitingFile, info: FileInfo): Promise<Entry | undefined> {
  if (purpose === "question" || purpose === "recording") {
    const draft = (await readDraft(owner, threadKey)) ?? { text: "", modelId: null, unsettledKey: null };
    return entryOfDraft(owner, threadKey, withFile(draft, info));
  }
  const reference = toReference(info);
  if (!reference) return undefined;
  const kept = await readReferences(owner);
  if (purpose === "first_picture") return entryOfReferences(owner, { ...kept, first: reference });
  return entryOfReferences(owner, { ...kept, references: [...kept.references, reference].slice(0, pictureLimits.references) });
}

/** In one transaction, so that a page that is closed meanwhile neither loses the file nor uploads it again. */
export async function settleFile(file: WaitingFile, info: FileInfo): Promise<void> {
  const entry = await entryFor(file, info);
  const kept = await writeAllStored([...(entry ? [entry] : []), removalOf(file)]);
  // A newer version of the product wrote the draft, so the file can't be added. Left here, it would be uploaded at each start.
  if (kept !== "kept") await removeWaitingFile(file);
}
