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
  /** Wrong passwords or codes for an account used up what these limits allow (server/features/auth/attempts.ts). */
  "sign_in.blocked": { limits: readonly string[] };
  "step_up.completed": { factor: "password" | "totp" | "recovery_code" | "google" | "passkey" };
  /** All of the person's other sign-ins ended with it. */
  "password.changed": { proof: "mailed_link" | "current_password" };
  "email_change.asked": Record<string, never>;
  "email.changed": Record<string, never>;
  /** The earlier address was put back. `removed`: how many ways to sign in had been added since the change was asked for. */
  "email.restored": { removed: number };
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
  /** Somebody of the team compared the person's payments with the payment provider's. */
  "payments.checked": Record<string, never>;
  "export.asked": Record<string, never>;
  "export.downloaded": Record<string, never>;
  "deletion.asked": Record<string, never>;
  "deletion.undone": Record<string, never>;
  /** Everything personal is gone. */
  "account.deleted": Record<string, never>;
  "role.granted": { role: "admin"; because: "named_in_admin_emails" | "first_start" };
  "dead_letter.replayed": { deadLetterId: string; job: string };
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
  "payments.checked": true,
  "export.asked": true,
  "export.downloaded": true,
  "deletion.asked": true,
  "deletion.undone": true,
  "account.deleted": false,
  "role.granted": true,
  "dead_letter.replayed": false,
} as const satisfies Record<AuditAction, boolean>;

export type ShownAction = { [Action in AuditAction]: (typeof shown)[Action] extends true ? Action : never }[AuditAction];
export const shownActions = (Object.keys(shown) as AuditAction[]).filter((action): action is ShownAction => shown[action]);
