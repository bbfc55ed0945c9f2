import { sql } from "kysely";

/** Whether the person in `users` shows more than a password: a code of an app, or a passkey, which is two factors by itself. */
export const hasSecondFactor = sql<boolean>`(exists (select from credentials where user_id = users.id and kind = 'totp')
  or exists (select from passkeys where user_id = users.id))`;
