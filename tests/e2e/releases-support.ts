/** Builds releases of the client from changed sources and deploys them one after another at one address. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import httpProxy from "@fastify/http-proxy";
// For its types: it adds fields to the route schemas, which the file serving uses.
import type {} from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import Fastify from "fastify";
import { registerSecurityHeaders } from "#server/http/security-headers.ts";
import { registerClient } from "#server/http/static.ts";
import { root } from "#tests/support/sources.ts";

export interface Frontage {
  url: string;
  /** Serves `folder` from now on; requests in progress finish with the earlier folder. */
  deploy(folder: string): Promise<void>;
  close(): Promise<void>;
}

const clock = { now: () => new Date("2026-11-23T12:00:00Z") };

async function serving(folder: string, url: string, apiUrl: string): Promise<FastifyInstance> {
  const app = Fastify();
  registerSecurityHeaders(app, { https: false });
  await app.register(httpProxy, { upstream: apiUrl, prefix: "/api", rewritePrefix: "/api" });
  app.get("/healthz", () => ({ status: "ok" }));
  await registerClient(app as never, { publicUrl: new URL(url), google: false, clock }, pathToFileURL(`${folder}/`));
  await app.ready();
  return app;
}

/** Starts the product's file serving at `port`, in front of an API that keeps running across releases of the client. */
export async function openFrontage(port: number, apiUrl: string): Promise<Frontage> {
  const url = `http://127.0.0.1:${port}`;
  const apps: FastifyInstance[] = [];
  const server = createServer((request, response) => apps.at(-1)?.routing(request, response));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url,
    async deploy(folder) {
      apps.push(await serving(folder, url, apiUrl));
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.all(apps.map((app) => app.close()));
    },
  };
}

/** Copies everything a build reads to a new folder, where a test can change it. */
export async function copySources(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-test-release-"));
  const built = path.join(root, "client/dist");
  for (const part of ["client", "server/contract", "server/domain", "package.json", "package-lock.json", "tsconfig.json"]) {
    await cp(path.join(root, part), path.join(folder, part), { recursive: true, filter: (file) => !file.startsWith(built) });
  }
  await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

export async function change(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, "utf8");
  if (!text.includes(from)) throw new Error(`${file} has no “${from}”`);
  await writeFile(file, text.replaceAll(from, to));
}

/** Builds the sources in `folder` into `site`, over the release there, as a deployment does. */
export async function buildOver(folder: string, site: string): Promise<void> {
  const program = path.join(folder, "client/build.ts");
  await promisify(execFile)(process.execPath, [program, "--out-dir", site], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: "production" },
  });
}
