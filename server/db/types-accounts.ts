import type { Generated, Selectable } from "kysely";
import type { Transport } from "#domain/passkeys.ts";
import type { Role } from "#domain/team.ts";
import type { Json } from "./json.ts";

/** A person. `identities` has their email addresses, `credentials` what they sign in with. */
export interface Users {
  id: Generated<string>;
  role: Generated<Role>;
  language: Generated<string>;
  name: Generated<string | null>;
  avatar_url: string | null;
  /** Kinds of optional mails that the person switched off (domain/notifications.ts). */
  declined_mails: Generated<string[]>;
  banned_at: Date | null;
  created_at: Date;
  last_sign_in_at: Date | null;
  /** Business time at which the account is deleted; until then it is hidden. Null: it is not being deleted. */
  delete_at: Generated<Date | null>;
}

export type UserRow = Selectable<Users>;

/** A picture in the file storage. */
export interface Avatars {
  name: string;
  /** Null once no account uses the picture. */
  user_id: string | null;
  created_at: Generated<Date>;
}

export interface Identities {
  id: Generated<string>;
  user_id: string;
  kind: "email" | "google";
  /** An email address in lower case, or the `sub` of a Google account. */
  subject: string;
  /** A Google account's address at Google, which is how its owner recognises it. Null for an email address. */
  shown_as: string | null;
  verified_at: Date;
  created_at: Date;
}

/** What Google said about somebody, between the return from Google and the call that uses it. */
export interface GoogleAnswers {
  id: string;
  subject: string;
  /** Verified by Google. */
  email: string;
  /** The signed-in person who asked, to link Google to their account or to prove who they are. Null for somebody who is signing in. */
  user_id: string | null;
  /** When they last showed Google who they are; null if Google did not say. */
  authenticated_at: Date | null;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

/** The data needed to check a credential, by kind. */
export interface CredentialData {
  /** An argon2id hash in the PHC format. */
  password: { hash: string };
  /** The secret as `sealSecret` wrote it, and the number of the last 30 seconds whose code was used. */
  totp: { sealedSecret: string; lastStep: number };
  recovery_code: { hash: string };
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

/** Pays for what its members ask: it has the wallet and the subscription. */
export interface BillingAccounts {
  id: Generated<string>;
  stripe_customer_id: string | null;
  invoices_read_at: Generated<Date | null>;
  created_at: Date;
}

/** A customer of the account that was deleted at Stripe. */
export interface FormerCustomers {
  stripe_customer_id: string;
  billing_account_id: string;
  retired_at: Date;
}

export interface BillingAccountMembers {
  user_id: string;
  billing_account_id: string;
  role: "owner";
  created_at: Date;
}

export interface SignUps {
  id: string;
  /** Null if this sign-up can no longer become an account. */
  email: string | null;
  /** Null once the hash has moved to the person's credentials. */
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
  /** The highest counter whose tokens the client has used, so we know that it received them. Null: no refresh since we record this. */
  received_counter: Generated<number | null>;
  rotated_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
  created_at: Date;
  /** When a factor was last shown in this sign-in. */
  proved_at: Generated<Date>;
  user_agent: string | null;
  time_zone: Generated<string | null>;
  /** When the newest way to sign in that was used here was added, in business time. Null: none of them came after the account was made. */
  way_added_at: Generated<Date | null>;
}

/** A sign-in that waits for its second factor, or for the decision whether a deleted account is restored. */
export interface PendingSignIns {
  id: string;
  user_id: string;
  factor: string;
  /** The second factor that was shown; the sign-in now waits for the decision. */
  second: Generated<string | null>;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

/** A public key with which a person signs in (WebAuthn). */
export interface Passkeys {
  id: Generated<string>;
  user_id: string;
  /** The authenticator's id for the passkey. */
  credential_id: Buffer;
  /** Encoded as COSE (RFC 9052). */
  public_key: Buffer;
  /** How often the authenticator says it has signed. It stays 0 if the authenticator does not count. */
  counter: number;
  /** How a browser reaches the authenticator. */
  transports: Transport[];
  /** `multiDevice`: it may be copied to the person's other devices. */
  device_type: "singleDevice" | "multiDevice";
  backed_up: boolean;
  name: string;
  created_at: Date;
  last_used_at: Date | null;
}

/** What a passkey has to sign. */
export interface PasskeyChallenges {
  challenge: Buffer;
  purpose: "sign_in" | "registration" | "step_up";
  /** The session that asked for it. Null for somebody who is signing in. */
  session_id: string | null;
  expires_at: Date;
  used_at: Date | null;
}

/** Somebody asked to have their lost second factor removed. Business time. */
export interface FactorResets {
  id: string;
  user_id: string;
  asked_at: Date;
  due_at: Date;
  mailed_at: Date | null;
  ended_at: Date | null;
  ending: "cancelled" | "expired" | "removed" | null;
}

/** A link belongs to the sign-up it was mailed for. Once opened it belongs to the person. */
export interface EmailLinks {
  id: Generated<string>;
  user_id: string | null;
  sign_up_id: string | null;
  purpose: "confirm" | "recover" | "change-email" | "undo-email" | "reset-factors" | "disown-way";
  /** The address that the person gets by opening the link; of `disown-way` the mailbox that got it. Null for links of other purposes. */
  address: Generated<string | null>;
  /** For `disown-way`: when the way to sign in was added, in business time. */
  ways_since: Generated<Date | null>;
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
