/** Builds the hello world in tests/client/floor with the client's own build settings, and serves it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import fastifyStatic from "@fastify/static";
import react from "@vitejs/plugin-react";
import Fastify from "fastify";
import { build } from "vite";
import settings from "#client/vite.config.ts";
import { root } from "#tests/support/sources.ts";
import { gzipBytes, scriptsOf } from "./page-weights.ts";

/** Builds the hello world in `folder`. */
export async function buildFloor(folder: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: "error",
    mode: "production",
    root: path.join(root, "tests/client/floor"),
    plugins: [react()],
    // The client's build sets the same; a test runner may have set another NODE_ENV.
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    build: { ...settings.build, outDir: folder, emptyOutDir: true },
  });
}

/** The size of the hello world's scripts, the floor F, in bytes of gzip. */
export async function weighFloor(): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-floor-"));
  try {
    await buildFloor(folder);
    return await gzipBytes(folder, await scriptsOf(folder, "index.html"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Serves the hello world in `folder`. Its service worker is an empty file. */
export async function serveFloor(folder: string): Promise<{ address: string; close: () => Promise<void> }> {
  const app = Fastify({ forceCloseConnections: true });
  app.get("/service-worker.js", (_request, reply) => reply.type("text/javascript").send(""));
  await app.register(fastifyStatic, { root: folder });
  return { address: await app.listen({ host: "127.0.0.1", port: 0 }), close: () => app.close() };
}
