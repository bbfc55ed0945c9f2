/** Builds the hello world in tests/client/floor with the client's own build settings. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import react from "@vitejs/plugin-react";
import { build } from "vite";
import settings from "#client/vite.config.ts";
import { root } from "#tests/support/sources.ts";
import { gzipBytes, scriptsOf } from "./page-weights.ts";

/** The size of the hello world's scripts, the floor F, in bytes of gzip. */
export async function weighFloor(): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-floor-"));
  try {
    await build({
      configFile: false,
      logLevel: "error",
      mode: "production",
      root: path.join(root, "tests/client/floor"),
      plugins: [react()],
      // As in the client's build; a test runner may have set another NODE_ENV.
      define: { "process.env.NODE_ENV": JSON.stringify("production") },
      build: { ...settings.build, outDir: folder, emptyOutDir: true },
    });
    const files = await scriptsOf(folder, "index.html");
    return await gzipBytes(folder, files);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
