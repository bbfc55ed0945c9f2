/** Creates the first admin account, so that someone can sign in to a new installation. */
import { rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { hash } from "@node-rs/argon2";
import pg from "pg";

/** This file exists from the creation of the admin until the password was printed, so that an interrupted start prints it the next time. */
function unshownPath(dataDir: string): string {
  return path.join(dataDir, "admin-password-unshown");
}

/** Whether the password has not been printed yet. */
export async function isPasswordUnshown(dataDir: string): Promise<boolean> {
  return stat(unshownPath(dataDir)).then(
    () => true,
    () => false,
  );
}

export async function notePasswordShown(dataDir: string): Promise<void> {
  await rm(unshownPath(dataDir), { force: true });
}

/** Creates the admin unless there is an account with that address. */
export async function createFirstAdmin(databaseUrl: string, email: string, password: string, dataDir: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const known = await client.query("select from identities where kind = 'email' and subject = $1", [email]);
    if (known.rowCount !== 0) return;
    await writeFile(unshownPath(dataDir), "");
    await client.query(
      `with person as (insert into users (role, created_at) values ('admin', now()) returning id),
         address as (insert into identities (user_id, kind, subject, verified_at, created_at) select id, 'email', $1, now(), now() from person)
       insert into credentials (user_id, kind, data, created_at) select id, 'password', jsonb_build_object('hash', $2::text), now() from person`,
      [email, await hash(password)],
    );
  } finally {
    await client.end();
  }
}
