/** Makes releases of the client and deploys them one after another at one address. */
import { cp, mkdtemp, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import httpProxy from "@fastify/http-proxy";
// For its types: it adds fields to the route schemas, which the file serving uses.
import type {} from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import Fastify from "fastify";
import { putInPlace } from "#client/build/releases.ts";
import { registerSecurityHeaders } from "#server/http/security-headers.ts";
import { registerClient } from "#server/http/static.ts";

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

const compressed = /\.(br|gz)$/;
const textual = /\.(css|html|js|json|webmanifest|xml)$/;

/**
 * Makes another release from the one in `site` and puts it in place as a build does: all its assets have other names, and the texts in
 * `changes` (from → to) are replaced. A real build of changed sources would differ in the same way, but takes twenty seconds.
 */
export async function releaseOver(site: string, changes: ReadonlyMap<string, string>): Promise<void> {
  const next = await mkdtemp(path.join(tmpdir(), "tessera-test-release-"));
  const assets = (await readdir(path.join(site, "assets"))).filter((file) => !compressed.test(file));
  const names = new Map(assets.map((file) => [file, file.replace(/(?=\.\w+$)/, "2")]));
  const { release } = JSON.parse(await readFile(path.join(site, "pages.json"), "utf8")) as { release: string };
  const replaced = new Map([...names, ...changes, [release, `${release}2`]]);
  const wanted = new RegExp([...replaced.keys()].map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "g");
  const unmet = new Set(changes.keys());
  await cp(site, next, { recursive: true, filter: (file) => !compressed.test(file) && file !== path.join(site, "kept") });
  for (const entry of await readdir(next, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || !textual.test(entry.name)) continue;
    const text = await readFile(file, "utf8");
    const changed = text.replace(wanted, (found) => {
      unmet.delete(found);
      return replaced.get(found) ?? found;
    });
    if (changed !== text) await writeFile(file, changed);
  }
  if (unmet.size > 0) throw new Error(`the release has no “${[...unmet].join("”, “")}”`);
  for (const [from, to] of names) await rename(path.join(next, "assets", from), path.join(next, "assets", to));
  await putInPlace(next, site);
}
