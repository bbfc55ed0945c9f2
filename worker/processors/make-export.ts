import { makeExport } from "#server/features/own-data/exports.ts";
import type { Processor } from "../run-job.ts";

export const makeExportJob: Processor<"make-export"> = (deps, { exportId }) => makeExport(deps, exportId);
