import type { Processor } from "../run-job.ts";

export const deleteFileJob: Processor<"delete-file"> = (deps, { name }) => deps.storage.delete(name);
