/** Removes a file that was deleted on the server from this device's drafts, so that no question is sent with it. */
import { dropDraftFile } from "./draft-files.ts";
import { tellFileEvent } from "./file-events.ts";
import { dropReference } from "./references.ts";

export async function forgetDeletedFile(owner: string, id: string): Promise<void> {
  await dropDraftFile(owner, id);
  await dropReference(owner, id);
  tellFileEvent({ type: "deleted", owner, id });
}
