import { useRef, useState } from "react";
import { ApiProblem, api, isAbort } from "#client/lib/api.ts";
import type { FileInfo } from "#contract/files.ts";
import { recordingBytes } from "#domain/transcripts.ts";

interface Unsent {
  file: Blob;
  name: string;
}

/** Whether the same upload may succeed later. It can't if the recording itself is at fault. */
const mayTryAgain = (error: unknown) =>
  !(error instanceof ApiProblem) || error.status >= 500 || error.status === 429 || error.code === "storage_full";

/**
 * Uploads a recording at once. A further recording, or `cancel`, ends an upload that is running. A recording whose upload failed is kept
 * until it is tried again or discarded.
 */
export function useRecordingUpload(onStored: (info: FileInfo) => void) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [unsent, setUnsent] = useState<Unsent | null>(null);
  const running = useRef<AbortController | undefined>(undefined);
  async function upload(file: Blob, name: string): Promise<void> {
    running.current?.abort();
    setUnsent(null);
    if (file.size > recordingBytes) return setFault("file_too_large");
    const controller = new AbortController();
    running.current = controller;
    setBusy(true);
    setFault(null);
    try {
      const headers = { "content-type": "application/octet-stream" };
      onStored(await api("POST /api/recordings", { querystring: { name }, file, headers, signal: controller.signal }));
    } catch (error) {
      if (isAbort(error)) return;
      setFault(error instanceof ApiProblem ? error.code : "network");
      if (mayTryAgain(error)) setUnsent({ file, name });
    } finally {
      if (running.current === controller) setBusy(false);
    }
  }
  const cancel = () => {
    running.current?.abort();
    setBusy(false);
  };
  const clear = () => {
    setFault(null);
    setUnsent(null);
  };
  return { busy, fault, upload, cancel, clear, again: unsent && (() => void upload(unsent.file, unsent.name)) };
}
