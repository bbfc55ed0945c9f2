import { hears } from "#domain/attachments.ts";
import { mayAnswer } from "./model-choice.ts";
import { refreshModels, useModels } from "./models-store.ts";
import { takeSharedRecording } from "./shared-files.ts";
import { newThreadKey } from "./thread.ts";
import { addUploads } from "./uploads.ts";
import type { Drafting } from "./use-draft.ts";

/**
 * Puts a recording that another app shared into a new conversation, with a model that transcribes. If no such model can be asked, the
 * composer says that the chosen one is unavailable.
 */
export async function takeRecording(follow: Drafting["follow"]): Promise<void> {
  const recording = await takeSharedRecording();
  if (!recording) return;
  // The page may just have been opened.
  if (useModels.getState().status === "idle") await refreshModels();
  const hearing = useModels.getState().models.filter(hears);
  const model = hearing.find(mayAnswer) ?? hearing[0];
  if (model) follow((draft) => ({ ...draft, modelId: model.id }));
  await addUploads({ purpose: "recording", threadKey: newThreadKey }, [recording]);
}
