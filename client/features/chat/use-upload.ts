import { useState } from "react";
import { ApiProblem, api } from "#client/lib/api.ts";
import type { Reference } from "#client/lib/picture-wish.ts";

export const uploadFaults = ["file_unsupported", "file_too_large", "file_damaged", "storage_full", "network"] as const;

/** Uploads pictures to begin from. `fault` is one of `uploadFaults`. */
export function useUpload(add: (reference: Reference) => void) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<(typeof uploadFaults)[number] | null>(null);
  async function upload(files: readonly File[]): Promise<void> {
    setBusy(true);
    setFault(null);
    try {
      for (const file of files) {
        const headers = { "content-type": file.type || "application/octet-stream" };
        const { id, name, width, height } = await api("POST /api/files", { querystring: { name: file.name }, file, headers });
        if (width !== null && height !== null) add({ fileId: id, alternative: name, width, height });
      }
    } catch (error) {
      const code = error instanceof ApiProblem ? error.code : "network";
      setFault(uploadFaults.find((known) => known === code) ?? "network");
    }
    setBusy(false);
  }
  return { busy, fault, upload };
}
