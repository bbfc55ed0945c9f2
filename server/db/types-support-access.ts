import type { Selectable } from "kysely";

/** Until when a person lets the team read their conversations. The times are business time. */
export interface SupportAccesses {
  user_id: string;
  /** When the team asked for it last. */
  asked_at: Date | null;
  given_at: Date | null;
  until: Date | null;
  /** When the person took it back, or said no. Null again once they gave it anew. */
  ended_at: Date | null;
}

export type SupportAccessRow = Selectable<SupportAccesses>;
