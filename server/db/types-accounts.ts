import type { Generated, Selectable } from "kysely";

export interface Users {
  id: Generated<string>;
  email: string;
  mailbox_key: string;
  email_verified_at: Date | null;
  password_hash: string | null;
  role: Generated<"user" | "admin">;
  language: Generated<string>;
  avatar_url: string | null;
  banned_at: Date | null;
  stripe_customer_id: string | null;
  created_at: Date;
  last_sign_in_at: Date | null;
}

export type UserRow = Selectable<Users>;

export interface AuthSessions {
  id: Generated<string>;
  user_id: string;
  counter: Generated<number>;
  token_hash: Buffer;
  previous_token_hash: Buffer | null;
  rotated_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
  created_at: Date;
  user_agent: string | null;
}

export interface EmailLinks {
  id: Generated<string>;
  user_id: string;
  purpose: "confirm" | "recover";
  token_hash: Buffer;
  password_hash: string | null;
  sign_up_id: Generated<string>;
  expires_at: Date;
  used_at: Date | null;
  created_at: Date;
}

export interface AuthAttempts {
  key: string;
  failures: number;
  window_started_at: Date;
  blocked_until: Date | null;
}
