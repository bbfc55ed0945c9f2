import type { Generated, Selectable } from "kysely";

/** A person's export of their own data. The times are business time. */
export interface DataExports {
  id: Generated<string>;
  user_id: string;
  /** In the file storage; null once the file is to be deleted. */
  file_name: Generated<string | null>;
  status: Generated<"making" | "ready" | "expired">;
  asked_at: Date;
  /** A team member had it made, because the person asked by mail. */
  by_team: Generated<boolean>;
  /** When the last try failed. Null again once a try has succeeded. */
  failed_at: Generated<Date | null>;
  ready_at: Generated<Date | null>;
  expires_at: Generated<Date | null>;
  bytes: Generated<number | null>;
  leased_until: Generated<Date | null>;
}

export type DataExport = Selectable<DataExports>;
