import { sendMail } from "#server/features/notifications/service.ts";
import type { Processor } from "../run-job.ts";

export const sendMailJob: Processor<"send-mail"> = (deps, { mailId }) => sendMail(deps, mailId);
