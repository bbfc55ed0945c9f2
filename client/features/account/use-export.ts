import { useCallback, useEffect } from "react";
import { api, apiResponse } from "#client/lib/api.ts";
import { saveFile } from "#client/lib/save-file.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import { useRead } from "./use-read.ts";

/** While one is being made, the page looks this often whether it is there. */
const lookEveryMs = 5_000;

const readLatest = async () => (await api("GET /api/account/exports")).latest;

/** The person's latest export. */
export function useExport() {
  const { state, look, change } = useRead(readLatest);

  /** Throws what the call throws. Nothing changes if the person gives up at the password. */
  const ask = useCallback(async () => {
    const answer = await withStepUp(() => api("POST /api/account/exports"));
    if (answer) change(() => answer.latest);
  }, [change]);

  const unfinished = state.status === "known" && (state.value?.status === "making" || state.value?.status === "failed");
  useEffect(() => {
    if (!unfinished) return;
    const timer = setInterval(() => void look(), lookEveryMs);
    return () => clearInterval(timer);
  }, [unfinished, look]);

  return { state, look, ask };
}

/** Saves the file. A plain link can't, because it would send no bearer token. Does nothing if the person cancels the step-up. */
export async function downloadExport(exportId: string): Promise<void> {
  const response = await withStepUp(() => apiResponse("GET /api/account/exports/:id/file", { params: { id: exportId } }));
  if (response) saveFile(await response.blob(), "tessera-data.zip");
}
