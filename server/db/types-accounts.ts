import type { Generated, Selectable } from "kysely";
import type { Json } from "./json.ts";

/** A person. By what they are known is in identities, what they sign in with is in credentials. */
export interface Users {
  id: Generated<string>;
  role: Generated<"user" | "admin">;
  language: Generated<string>;
  avatar_url: string | null;
  banned_at: Date | null;
  stripe_customer_id: string | null;
  created_at: Date;
  last_sign_in_at: Date | null;
}

export type UserRow = Selectable<Users>;

export interface Identities {
  id: Generated<string>;
  user_id: string;
  kind: "email";
  subject: string;
  verified_at: Date;
  created_at: Date;
}

/** What checking a credential takes, by kind. */
interface CredentialData {
  /** argon2id, in the PHC format. */
  password: { hash: string };
}

export interface Credentials {
  id: Generated<string>;
  user_id: string;
  kind: keyof CredentialData;
  name: string | null;
  data: Json<CredentialData[keyof CredentialData]>;
  created_at: Date;
  last_used_at: Date | null;
}

export interface SignUps {
  id: string;
  /** Null: no account can come of it any more. */
  email: string | null;
  /** Null: it is the person's password now. */
  password_hash: string | null;
  language: string;
  created_at: Date;
}

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

/** Of the sign-up it was mailed for; of the person once it was opened. */
export interface EmailLinks {
  id: Generated<string>;
  user_id: string | null;
  sign_up_id: string | null;
  purpose: "confirm" | "recover";
  token_hash: Buffer;
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
