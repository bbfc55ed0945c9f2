/** The secrets generated at the first start. They are stored in DATA_DIR/secrets.json, which only its owner can read. */
import { randomBytes } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { StartError } from "../start-error.ts";

const fields = ["superuserPassword", "ownerPassword", "applicationPassword", "secretKey", "sandboxToken", "adminPassword"] as const;
export type Secrets = Record<(typeof fields)[number], string>;

function secretsPath(dataDir: string): string {
  return path.join(dataDir, "secrets.json");
}

function generate(): Secrets {
  const random = () => randomBytes(24).toString("base64url");
  return {
    superuserPassword: random(),
    ownerPassword: random(),
    applicationPassword: random(),
    secretKey: randomBytes(48).toString("base64url"),
    sandboxToken: random(),
    // A password needs a letter and a digit, which random characters may not include.
    adminPassword: `${randomBytes(16).toString("base64url")}a7`,
  };
}

/** Undefined if the file does not exist. Throws StartError if it can't be read or lacks a field. */
export async function readSecrets(dataDir: string): Promise<Secrets | undefined> {
  const file = secretsPath(dataDir);
  const remedy = "restore it from a backup, or start with another, empty DATA_DIR";
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new StartError(`DATA_DIR is damaged: ${file} cannot be read (${(error as NodeJS.ErrnoException).code}); ${remedy}`);
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    content = undefined;
  }
  const values = Object(content) as Partial<Record<string, unknown>>;
  const missing = fields.filter((field) => typeof values[field] !== "string" || values[field] === "");
  if (missing.length > 0) throw new StartError(`DATA_DIR is damaged: ${file} is incomplete; ${remedy}`);
  return Object.fromEntries(fields.map((field) => [field, String(values[field])])) as Secrets;
}

/** Writes a temporary file and renames it, so that a crash leaves a complete file or none. */
export async function createSecrets(dataDir: string): Promise<Secrets> {
  const secrets = generate();
  const file = secretsPath(dataDir);
  const beside = `${file}.${process.pid}.new`;
  const handle = await open(beside, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(secrets, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(beside, file);
  return secrets;
}
