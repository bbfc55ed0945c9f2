/** Builds the client where its sources have changed since the last build. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "./start-error.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const built = path.join(root, "client/dist");
const sources = ["client", "server/contract", "server/domain"];

/** Of everything that goes into a build. */
async function hashSources(): Promise<string> {
  const files = ["package-lock.json"];
  for (const source of sources) {
    for (const entry of await readdir(path.join(root, source), { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      if (entry.isFile() && !file.startsWith(`${built}${path.sep}`)) files.push(path.relative(root, file));
    }
  }
  const hash = createHash("sha256");
  const contents = await Promise.all(files.sort().map((file) => readFile(path.join(root, file))));
  for (const [index, content] of contents.entries()) hash.update(`${files[index]}\0${content.length}\0`).update(content);
  return hash.digest("hex");
}

function runVite(folder: string, signal: AbortSignal): Promise<void> {
  const program = path.join(root, "node_modules/vite/bin/vite.js");
  const child = spawn(
    process.execPath,
    [program, "build", "--config", "client/vite.config.ts", "--outDir", folder, "--logLevel", "error"],
    {
      cwd: root,
      env: { ...process.env, NODE_ENV: "production" },
      stdio: ["ignore", "ignore", "pipe"],
      signal,
    },
  );
  let errors = "";
  child.stderr.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new StartError(`the client cannot be built:\n${errors.trim()}`))));
  });
}

/** Resolves to whether a build was necessary. The last build stays in place until the new one is whole. */
export async function buildClientWhenStale(log: (line: string) => void, signal: AbortSignal): Promise<boolean> {
  const hash = await hashSources();
  if ((await readFile(path.join(built, ".stamp"), "utf8").catch(() => "")) === hash) return false;
  log("building the client …");
  const cache = path.join(root, "node_modules/.cache");
  const folder = path.join(cache, `tessera-client-${process.pid}`);
  await mkdir(cache, { recursive: true });
  try {
    await runVite(folder, signal);
    await writeFile(path.join(folder, ".stamp"), hash);
    const previous = `${folder}-previous`;
    await rename(built, previous).catch(() => {});
    await rename(folder, built);
    await rm(previous, { recursive: true, force: true });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return true;
}
