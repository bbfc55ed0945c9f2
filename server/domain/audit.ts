import type { CampaignAudience } from "./campaigns.ts";
import type { InboxStatus } from "./inbox.ts";
import type { NeedKind } from "./needs.ts";
import type { PlanKey } from "./plans.ts";
import type { SettingName, SettingValue } from "./settings.ts";
import type { DownloadedList } from "./tables.ts";
import type { TeamRole } from "./team.ts";

/** `audience` says for whom the campaign is. Entries from before admins could choose that don't have it. */
interface CampaignDetails {
  percent: number;
  audience?: CampaignAudience;
  endedDays?: number;
  plans?: readonly PlanKey[];
}

/**
 * The acts that the audit log records, with the details of each (migrations/*_audit). Details contain no personal data: no name,
 * no address, no id of a person.
 */
export interface AuditDetails {
  "sign_up.confirmed": Record<string, never>;
  "sign_in.completed": {
    factor: "password" | "confirmation_link" | "recovery_link" | "google" | "passkey";
    /** Absent if the person has none, or did not need to show it. */
    second?: "totp" | "recovery_code";
  };
  /** Wrong passwords or codes for an account used up what these limits allow (server/features/attempts/service.ts). */
  "sign_in.blocked": { limits: readonly string[] };
  "step_up.completed": { factor: "password" | "totp" | "recovery_code" | "google" | "passkey" };
  /** All of the person's other sign-ins ended with it. */
  "password.changed": { proof: "mailed_link" | "current_password" };
  "email_change.asked": Record<string, never>;
  "email.changed": Record<string, never>;
  /** The earlier address was put back. `removed`: how many ways to sign in had been added since the change was asked for. */
  "email.restored": { removed: number };
  /** By a mailed link. `removed`: how many ways to sign in, with the one that the mail was about. */
  "ways.disowned": { removed: number };
  "second_factor.enabled": Record<string, never>;
  /** `proof` is there if the link for a lost factor did it (factor-reset.ts), 72 hours after it was asked for. */
  "second_factor.disabled": { proof?: "mailed_link" };
  "factor_reset.asked": Record<string, never>;
  /** The link that removes the factor was mailed. */
  "factor_reset.mailed": Record<string, never>;
  "factor_reset.cancelled": { by: "mailed_link" | "session" | "code" | "second_factor_off" };
  /** The codes there were before no longer work. */
  "recovery_codes.created": { codes: number };
  "recovery_code.used": { left: number };
  /** The person can sign in with a Google account from now on: it made the account, or was linked to it. */
  "google.linked": { by: "sign_up" | "link" };
  "google.unlinked": Record<string, never>;
  "passkey.added": Record<string, never>;
  "passkey.removed": Record<string, never>;
  /** It signed with a count that was used before, as a copy of it would. */
  "passkey.refused": { reason: "counter_went_back" };
  "session.ended": { reason: "signed_out" | "token_reused" } | { reason: "signed_out_elsewhere" | "by_operator"; sessions: number };
  "trial.started": Record<string, never>;
  /** The first payment, by the money-back guarantee. */
  "money_back.asked": { amountCents: number };
  /** By the right of withdrawal. */
  "contract.withdrawn": { amountCents: number };
  /** An offer of the team's, to be paid by bank transfer. */
  "transfer.ordered": { amountCents: number };
  /** Acts of the team about invoices that are paid by bank transfer. */
  "transfer.offered": { interval: "month" | "year" };
  /** `agreedElsewhere`: the plan was not ordered on our page. */
  "transfer.received": { amountCents: number; agreedElsewhere?: true };
  "transfer.reversed": { amountCents: number };
  /** The money of a plan that was withdrawn from was transferred back. */
  "transfer.returned": { amountCents: number };
  /** Money that went out twice came back, or was given up. */
  "transfer.reclaimed": { amountCents: number; givenUp?: true };
  /** A team member compared the person's payments with the payment provider's. */
  "payments.checked": Record<string, never>;
  /** Discounts that a team member set, or ended before their time. */
  "campaign.planned": CampaignDetails;
  "campaign.ended": CampaignDetails;
  /** `by`: a team member had it made, for a person who asked by mail. */
  "export.asked": { by?: "team" };
  "export.downloaded": Record<string, never>;
  /** The person lets the team read their conversations, for these days, takes that back, or says no to the team's request. */
  "support_access.given": { days: number };
  "support_access.ended": Record<string, never>;
  "support_access.refused": Record<string, never>;
  /** The team asked them for it. */
  "support_access.asked": Record<string, never>;
  /** A team member read this answer, and what led to it. */
  "answer.read": { generationId: string };
  "deletion.asked": Record<string, never>;
  "deletion.undone": Record<string, never>;
  /** Everything personal is gone. */
  "account.deleted": Record<string, never>;
  "role.granted": { role: TeamRole; because: "named_in_admin_emails" | "first_start" | "by_admin" };
  "role.taken": { role: TeamRole };
  /** Acts of the team on an account. */
  "credits.given": { credits: number; days: number };
  "credits.taken": { credits: number };
  "mail.sent_again": { template: string };
  /** A mail that was not delivered goes to another address. */
  "mail.readdressed": { template: string };
  /** The act is about a sign-up. No account belongs to it yet. */
  "confirmation.sent_again": Record<string, never>;
  /** The account was taken over, and its owner gets it back. `removed`: ways to sign in; `addressRestored`: an earlier address is theirs again. */
  "account.given_back": { sessions: number; removed: number; addressRestored: boolean };
  "account.banned": Record<string, never>;
  "account.unbanned": Record<string, never>;
  "refund.asked": { invoiceId: string; amountCents: number };
  /** Recorded before the payment provider is asked, so that there is a reason for everything that it did. */
  "plan.cancel_asked": Record<string, never>;
  "plan.resume_asked": Record<string, never>;
  /** The payment provider has done it. */
  "plan.cancelled": Record<string, never>;
  "plan.resumed": Record<string, never>;
  "dead_letter.replayed": { deadLetterId: string; job: string };
  "dead_letter.discarded": { deadLetterId: string; job: string };
  "stripe_event.replayed": { eventId: string; type: string };
  /** Nothing acts on the event until somebody puts it back. */
  "stripe_event.discarded": { eventId: string; type: string };
  /** Somebody dealt with what a check had found. */
  "finding.closed": { kind: string; subject: string };
  "finding.reopened": { kind: string; subject: string };
  /** An entry of what waits for the team is shown again from that day in UTC on; or again at once (docs/decisions/0111). */
  "need.put_off": { list: NeedKind; entry: string; until: string };
  "need.brought_back": { list: NeedKind; entry: string };
  /** A team member downloaded a list as a file. `filters`: the names of those that were set, without what was looked for. */
  "list.downloaded": { list: DownloadedList; filters?: readonly string[] };
  /** Somebody had every account compared with the payment provider's. */
  "full_check.asked": Record<string, never>;
  /** Released holds past their deadline that the sweep had failed to release. */
  "holds.released": { holds: number };
  /** Null: the default. */
  "setting.changed": { setting: SettingName; was: SettingValue; now: SettingValue };
  /** Acts of the team on a message in the inbox. */
  "message.answered": { messageId: string; status: InboxStatus };
  "message.status_set": { messageId: string; status: InboxStatus };
  "message.assigned": { messageId: string; to: "self" | "colleague" | "nobody" };
  /** Somebody switched a model off, or changed what people read of it; or switched it on again. */
  "model.switched_off": { model: string };
  "model.switched_on": { model: string };
  /** Credits of one unit, from the beginning of that day in UTC on. */
  "model.price_planned": { model: string; credits: number; beginsOn: string };
  "model.price_dropped": { model: string; credits: number; beginsOn: string };
}

export type AuditAction = keyof AuditDetails;

/** Whether the person an act was done to sees it among the activity of their account. */
const shown = {
  "sign_up.confirmed": true,
  "sign_in.completed": true,
  "sign_in.blocked": true,
  "step_up.completed": true,
  "password.changed": true,
  "email_change.asked": true,
  "email.changed": true,
  "email.restored": true,
  "ways.disowned": true,
  "second_factor.enabled": true,
  "second_factor.disabled": true,
  "factor_reset.asked": true,
  "factor_reset.mailed": true,
  "factor_reset.cancelled": true,
  "recovery_codes.created": true,
  "recovery_code.used": true,
  "google.linked": true,
  "google.unlinked": true,
  "passkey.added": true,
  "passkey.removed": true,
  "passkey.refused": true,
  "session.ended": true,
  "trial.started": true,
  "money_back.asked": true,
  "contract.withdrawn": true,
  "transfer.offered": false,
  "transfer.ordered": false,
  "transfer.received": false,
  "transfer.reversed": false,
  "transfer.returned": false,
  "transfer.reclaimed": false,
  "payments.checked": true,
  "campaign.planned": false,
  "campaign.ended": false,
  "export.asked": true,
  "export.downloaded": true,
  "support_access.given": true,
  "support_access.ended": true,
  "support_access.refused": true,
  "support_access.asked": true,
  "answer.read": true,
  "deletion.asked": true,
  "deletion.undone": true,
  "account.deleted": false,
  "role.granted": true,
  "role.taken": true,
  "credits.given": true,
  "credits.taken": true,
  "mail.sent_again": true,
  "mail.readdressed": true,
  "confirmation.sent_again": false,
  "account.given_back": true,
  "account.banned": true,
  "account.unbanned": true,
  "refund.asked": true,
  "plan.cancel_asked": false,
  "plan.resume_asked": false,
  "plan.cancelled": true,
  "plan.resumed": true,
  "dead_letter.replayed": false,
  "dead_letter.discarded": false,
  "stripe_event.replayed": false,
  "stripe_event.discarded": false,
  "finding.closed": false,
  "finding.reopened": false,
  "need.put_off": false,
  "need.brought_back": false,
  "list.downloaded": false,
  "full_check.asked": false,
  "holds.released": false,
  "setting.changed": false,
  "message.answered": false,
  "message.status_set": false,
  "message.assigned": false,
  "model.switched_off": false,
  "model.switched_on": false,
  "model.price_planned": false,
  "model.price_dropped": false,
} as const satisfies Record<AuditAction, boolean>;

export type ShownAction = { [Action in AuditAction]: (typeof shown)[Action] extends true ? Action : never }[AuditAction];
export const auditActions = Object.keys(shown) as AuditAction[];
export const shownActions = auditActions.filter((action): action is ShownAction => shown[action]);
