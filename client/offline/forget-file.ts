/** After a file was deleted on the server: takes it out of what waits on this device, so that no question is sent with it in vain. */
import { dropDraftFile } from "./draft-files.ts";
import { tellFileEvent } from "./file-events.ts";
import { dropReference } from "./references.ts";

export async function forgetDeletedFile(owner: string, id: string): Promise<void> {
  await dropDraftFile(owner, id);
  await dropReference(owner, id);
  tellFileEvent({ type: "deleted", owner, id });
}
