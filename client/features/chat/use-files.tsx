import i18next from "i18next";
import type { ReactNode } from "react";
import { useEffect, useRef, useState } from "react";
import type { FileInfo } from "#contract/files.ts";
import type { FilesState } from "./attachments.tsx";
import { lateModule } from "./late-module.ts";
import type { OfferedModel } from "./models-store.ts";
import type { Drafting } from "./use-draft.ts";

/** With its texts. */
const useAttachments = lateModule(async () => {
  await i18next.loadNamespaces(["files", "errors", "refusals", "uploads"]);
  return import("./attachments.tsx");
});

/** For questions that were sent with files. */
export const useSentFiles = lateModule(async () => {
  await i18next.loadNamespaces("files");
  return import("./sent-files.tsx");
});

interface FilesOptions extends Pick<Drafting, "draft" | "change" | "follow"> {
  threadKey: string;
  model: OfferedModel | undefined;
  available: number;
}

export interface ComposerFiles extends FilesState {
  list: ReactNode;
  button: ReactNode;
}

const none: readonly FileInfo[] = [];

/** The files of the next question. Whatever handles them is loaded after the composer. */
export function useFiles({ threadKey, draft, change, follow, model, available }: FilesOptions): ComposerFiles {
  const late = useAttachments(true);
  const [state, setState] = useState<FilesState>({ blocked: false, attached: [] });
  const files = draft.files ?? none;
  const latest = useRef(follow);
  latest.current = follow;
  useEffect(() => late?.onDraftFile(threadKey, (by) => latest.current(by)), [late, threadKey]);
  if (!late) return { blocked: files.length > 0, attached: [], list: null, button: null };
  const onFiles = (changed: readonly FileInfo[]) => change({ files: changed, unsettledKey: null });
  const onUse = (modelId: string) => change({ modelId });
  return {
    ...state,
    list: (
      <late.Attachments key={threadKey} {...{ threadKey, files, model, available, onFiles, onUse }} text={draft.text} onState={setState} />
    ),
    button: <late.AttachButton threadKey={threadKey} count={files.length} />,
  };
}
