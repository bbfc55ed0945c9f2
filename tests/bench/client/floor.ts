/** The hello world of tests/client/floor, built with the settings of the client itself. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import react from "@vitejs/plugin-react";
import { build } from "vite";
import settings from "#client/vite.config.ts";
import { root } from "#tests/support/sources.ts";
import { gzipBytes, scriptsOf } from "./page-weights.ts";

/** The floor F, in bytes of gzip. */
export async function weighFloor(): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-floor-"));
  try {
    await build({
      configFile: false,
      logLevel: "error",
      mode: "production",
      root: path.join(root, "tests/client/floor"),
      plugins: [react()],
      // As the client is built, even where a test runner has set another one.
      define: { "process.env.NODE_ENV": JSON.stringify("production") },
      build: { ...settings.build, outDir: folder, emptyOutDir: true },
    });
    const files = await scriptsOf(folder, "index.html");
    return await gzipBytes(folder, files);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
