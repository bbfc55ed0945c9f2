/** Creates the first admin account, so that someone can sign in to a new installation. */
import { rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { hash } from "@node-rs/argon2";
import { recordAct } from "../db/audit.ts";
import { createDatabase, createPool } from "../db/database.ts";
import { inTransaction } from "../db/transaction.ts";

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
  const db = createDatabase(createPool(databaseUrl, 1, "tessera first admin"));
  try {
    const known = await db
      .selectFrom("identities")
      .select("id")
      .where("kind", "=", "email")
      .where("subject", "=", email)
      .executeTakeFirst();
    if (known) return;
    await writeFile(unshownPath(dataDir), "");
    const data = JSON.stringify({ hash: await hash(password) });
    const now = new Date();
    await inTransaction(db, async (trx) => {
      const user = {
        role: "admin",
        avatar_url: null,
        banned_at: null,
        created_at: now,
        last_sign_in_at: null,
      } as const;
      const { id: subject } = await trx.insertInto("users").values(user).returning("id").executeTakeFirstOrThrow();
      const owned = { user_id: subject, created_at: now };
      await trx
        .insertInto("identities")
        .values({ ...owned, kind: "email", subject: email, verified_at: now })
        .execute();
      await trx
        .insertInto("credentials")
        .values({ ...owned, kind: "password", name: null, data, last_used_at: null })
        .execute();
      const details = { role: "admin", because: "first_start" } as const;
      await recordAct(trx, { actor: null, subject, action: "role.granted", network: null, details });
    });
  } finally {
    await db.destroy();
  }
}
