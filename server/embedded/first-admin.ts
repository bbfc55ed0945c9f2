/** The first administrator, so that a fresh installation can be signed in to. */
import { hash } from "@node-rs/argon2";
import pg from "pg";
import { mailboxKey } from "#domain/rules.ts";

/** Creates the administrator where nobody has that address. Resolves to whether it did. */
export async function createFirstAdmin(databaseUrl: string, email: string, password: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const known = await client.query("select from users where email = $1", [email]);
    if (known.rowCount !== 0) return false;
    const created = await client.query(
      `insert into users (email, mailbox_key, email_verified_at, password_hash, role, created_at)
       values ($1, $2, now(), $3, 'admin', now()) on conflict (email) do nothing`,
      [email, mailboxKey(email), await hash(password)],
    );
    return created.rowCount === 1;
  } finally {
    await client.end();
  }
}
