import { useCallback, useEffect, useState } from "react";
import { api, apiResponse } from "#client/lib/api.ts";
import { saveFile } from "#client/lib/save-file.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import type { DataExport } from "#contract/own-data.ts";

/** While one is being made, the page looks this often whether it is there. */
const lookEveryMs = 5_000;

export type ExportState = { status: "loading" } | { status: "failed" } | { status: "known"; latest: DataExport | null };

/** The person's latest export. */
export function useExport(): { state: ExportState; look: () => Promise<void>; ask: () => Promise<void> } {
  const [state, setState] = useState<ExportState>({ status: "loading" });

  const look = useCallback(async () => {
    try {
      const { latest } = await api("GET /api/account/exports");
      setState({ status: "known", latest });
    } catch {
      // What was known is still shown when a later look fails.
      setState((before) => (before.status === "known" ? before : { status: "failed" }));
    }
  }, []);

  /** Throws what the call throws. Nothing changes if the person gives up at the password. */
  const ask = useCallback(async () => {
    const answer = await withStepUp(() => api("POST /api/account/exports"));
    if (answer) setState({ status: "known", latest: answer.latest });
  }, []);

  const unfinished = state.status === "known" && (state.latest?.status === "making" || state.latest?.status === "failed");
  useEffect(() => void look(), [look]);
  useEffect(() => {
    if (!unfinished) return;
    const timer = setInterval(() => void look(), lookEveryMs);
    return () => clearInterval(timer);
  }, [unfinished, look]);

  return { state, look, ask };
}

/** Saves the file through the browser. Only calls with the bearer token get it, so it can't be a plain link. */
export async function downloadExport(exportId: string): Promise<void> {
  const response = await apiResponse("GET /api/account/exports/:id/file", { params: { id: exportId } });
  saveFile(await response.blob(), "tessera-data.zip");
}
