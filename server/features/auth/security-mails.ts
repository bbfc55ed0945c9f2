/** Mails a person what was done to their sign-in. Those about a new way have a link that takes it away again (disown-way.ts). */
import { mailboxKey } from "#domain/rules.ts";
import type { Trx } from "../../db/transaction.ts";
import { takeAttempt } from "../attempts/service.ts";
import { queueMail } from "../notifications/service.ts";
import type { MailParameters } from "../notifications/templates.ts";
import type { AuthDeps } from "./callers.ts";
import { makeDisownLink } from "./disown-way.ts";
import type { Person } from "./queries.ts";

export type SecurityMail =
  | "password-changed"
  | "second-factor-on"
  | "second-factor-off"
  | "passkey-added"
  | "passkey-removed"
  | "google-linked"
  | "google-unlinked"
  | "recovery-code-used"
  | "account-deleted"
  | "account-restored";

/**
 * False if the mailbox has had many mails that say the same within the hour: then one goes out every quarter of an hour. The act itself is
 * never refused. Nothing is hidden by this, because the mails before it were about the same, and their links remove what came later, too.
 */
export async function mayTell(trx: Trx, template: SecurityMail, email: string): Promise<boolean> {
  return (await takeAttempt(trx, `security-mail:${template} ${mailboxKey(email)}`, new Date())) === null;
}

type Told = Exclude<SecurityMail, NewWay>;

/** `key` names the act, so that it is told once. The caller has locked the person. */
export async function tellOwner<Template extends Told>(
  trx: Trx,
  deps: Pick<AuthDeps, "clock">,
  person: Person,
  { template, key, parameters }: { template: Template; key: string; parameters: MailParameters[Template] },
): Promise<void> {
  if (!(await mayTell(trx, template, person.email))) return;
  const mail = { key: `${template}:${key}`, userId: person.id, recipient: person.email, language: person.language };
  await queueMail(trx, { ...mail, template, parameters }, deps.clock.now());
}

type NewWay = "second-factor-on" | "passkey-added" | "google-linked";

/** `addedAt`: as the way's row has it. `key` names the act, so that it is told once. The caller has locked the person. */
export async function tellOfNewWay(
  trx: Trx,
  deps: AuthDeps,
  person: Person,
  way: { template: NewWay; key: string; addedAt: Date; googleEmail?: string },
): Promise<void> {
  const { template, key, addedAt, googleEmail = "" } = way;
  if (!(await mayTell(trx, template, person.email))) return;
  const link = await makeDisownLink(trx, deps, person, addedAt);
  const mail = { key: `${template}:${key}`, userId: person.id, recipient: person.email, language: person.language };
  const parameters = { changedAt: addedAt.toISOString(), linkId: link.id, expiresAt: link.expiresAt.toISOString() };
  const now = deps.clock.now();
  if (template === "google-linked") await queueMail(trx, { ...mail, template, parameters: { ...parameters, googleEmail } }, now);
  else await queueMail(trx, { ...mail, template, parameters }, now);
}
