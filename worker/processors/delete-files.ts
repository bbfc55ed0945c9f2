import { deleteBytes } from "#server/features/files/service.ts";
import type { Processor } from "../run-job.ts";

export const deleteFilesJob: Processor<"delete-files"> = (deps, { names }) => deleteBytes(deps, names);
