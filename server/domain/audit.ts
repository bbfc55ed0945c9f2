/**
 * The acts that the audit log records, with the details of each (migrations/*_audit). Details contain no personal data: no name,
 * no address, no id of a person.
 */
export interface AuditDetails {
  "sign_up.confirmed": Record<string, never>;
  "sign_in.completed": { factor: "password" | "confirmation_link" };
  /** Wrong passwords for an account used up what these limits allow (server/features/auth/attempts.ts). */
  "sign_in.blocked": { limits: readonly string[] };
  "session.ended": { reason: "signed_out" | "token_reused" };
  "role.granted": { role: "admin"; because: "named_in_admin_emails" | "first_start" };
  "dead_letter.replayed": { deadLetterId: string; job: string };
}

export type AuditAction = keyof AuditDetails;
