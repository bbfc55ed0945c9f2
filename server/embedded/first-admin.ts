/** The first administrator, so that a fresh installation can be signed in to. */
import { rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { hash } from "@node-rs/argon2";
import pg from "pg";
import { mailboxKey } from "#domain/rules.ts";

/** There from the moment the administrator is created until the password was shown, so that a start cut short loses it not. */
function unshownPath(dataDir: string): string {
  return path.join(dataDir, "admin-password-unshown");
}

/** Whether the password has still to be shown, once. */
export async function isPasswordUnshown(dataDir: string): Promise<boolean> {
  return stat(unshownPath(dataDir)).then(
    () => true,
    () => false,
  );
}

export async function notePasswordShown(dataDir: string): Promise<void> {
  await rm(unshownPath(dataDir), { force: true });
}

/** Creates the administrator where nobody has that address. */
export async function createFirstAdmin(databaseUrl: string, email: string, password: string, dataDir: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const known = await client.query("select from users where email = $1", [email]);
    if (known.rowCount !== 0) return;
    await writeFile(unshownPath(dataDir), "");
    await client.query(
      `insert into users (email, mailbox_key, email_verified_at, password_hash, role, created_at)
       values ($1, $2, now(), $3, 'admin', now()) on conflict (email) do nothing`,
      [email, mailboxKey(email), await hash(password)],
    );
  } finally {
    await client.end();
  }
}
