import type { Generated } from "kysely";
import type { AuditAction } from "#domain/audit.ts";
import type { Json } from "./json.ts";

/** The person that an id in the audit log stands for. */
export interface AuditPeople {
  id: Generated<string>;
  user_id: string;
}

export interface AuditEvents {
  id: Generated<string>;
  at: Generated<Date>;
  actor: string | null;
  subject: string | null;
  action: AuditAction;
  details: Json<Record<string, unknown>>;
}

/** Why a team member did it. */
export interface AuditReasons {
  event_id: string;
  /** The person to whom it was done. */
  user_id: string | null;
  reason: string;
}

export interface AuditOrigins {
  event_id: string;
  user_id: string;
  network: string;
}
