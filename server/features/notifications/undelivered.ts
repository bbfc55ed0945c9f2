/**
 * Sends mails again that were given up because their address is wrong or its mailbox refuses them. They may go to another address only
 * where that shows nobody another person's data: a receipt to the account's present address, an answer of the team's to one that a team
 * member types. A mail whose link proves who somebody is goes only to its own address.
 */
import type { Selectable } from "kysely";
import { DomainError } from "#domain/errors.ts";
import { checkEmail } from "#domain/rules.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Mails } from "../../db/types-work.ts";
import type { Deps } from "../../deps.ts";
import { ValidationError } from "../../http/problem.ts";
import { replayLettersIn } from "../../queue/replay.ts";
import type { Clerk } from "../team/service.ts";
import * as queries from "./queries.ts";
import { canResend } from "./resend.ts";

/** Where else the mail may go: `any` address, that of the `account`, or nowhere else. */
export type Elsewhere = "any" | "account" | null;

type Undelivered = Pick<Selectable<Mails>, "template" | "parameters" | "recipient">;

export function elsewhereOf(mail: Undelivered, accountEmail: string | null): Elsewhere {
  if (mail.template === "contact-answer" || mail.template === "contact-received") return "any";
  return accountEmail !== null && accountEmail !== mail.recipient && canResend(mail) ? "account" : null;
}

const settled = () => new DomainError("conflict", "Somebody has dealt with this mail already, or it can't go to this address");

async function readdress(trx: Trx, mail: Selectable<Mails>, recipient: string): Promise<void> {
  const account = mail.user_id === null ? undefined : await queries.selectAddress(trx, mail.user_id);
  const elsewhere = elsewhereOf(mail, account?.recipient ?? null);
  if (elsewhere === null || (elsewhere === "account" && recipient !== account?.recipient)) throw settled();
  await trx.updateTable("mails").set({ recipient }).where("id", "=", mail.id).where("sent_at", "is", null).execute();
}

interface Again {
  /** The id of the job that failed for good. */
  id: string;
  recipient: string;
  reason: string;
}

/** Sends the mail again. Throws `validation_failed`, `not_found`, and `conflict` if it was dealt with or can't go to this address. */
export async function sendUndelivered({ db }: Pick<Deps, "db">, clerk: Clerk, { id, recipient: asked, reason }: Again): Promise<void> {
  const recipient = asked.trim().normalize("NFC");
  const fault = checkEmail(recipient);
  if (fault) throw new ValidationError([{ field: "recipient", message: fault }]);
  await inTransaction(db, async (trx) => {
    const mail = await queries.lockMailOfLetter(trx, id);
    if (!mail) throw new DomainError("not_found", "There is no such mail");
    if ((await replayLettersIn(trx, [id], { ...clerk, reason })).length === 0) throw settled();
    if (recipient === mail.recipient) return;
    await readdress(trx, mail, recipient);
    const act = { actor: clerk.userId, subject: mail.user_id, network: clerk.network, reason };
    await recordAct(trx, { ...act, action: "mail.readdressed", details: { template: mail.template } });
  });
}
