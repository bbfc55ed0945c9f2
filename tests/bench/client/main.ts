/**
 * `npm run bench:client`: compares with our limits what every route weighs (relative to the floor, built in the same run) and
 * Lighthouse's mobile figures of every page in the sitemap. `--page /pricing` measures one page, `--runs 1` takes one run
 * instead of the median of five, `--runs 0` only weighs.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs, promisify } from "node:util";
import { fallbackLanguage } from "#domain/languages.ts";
import { freePort } from "#server/embedded/processes.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { root } from "#tests/support/sources.ts";
import { startBenchServer } from "../support.ts";
import { endChildren, startChild } from "../world.ts";
import { buildFloor, serveFloor, weighFloor } from "./floor.ts";
import { heading, inspect } from "./lighthouse.ts";
import type { PageWeight } from "./page-weights.ts";
import { faultsOf, limits, weighPages } from "./page-weights.ts";

const { values } = parseArgs({ options: { page: { type: "string", multiple: true }, runs: { type: "string", default: "5" } } });
const runs = Number(values.runs);

const kilobytes = (bytes: number) => (bytes / 1_000).toFixed(1);
const load = () => loadavg()[0]?.toFixed(1);

function isWanted(address: string): boolean {
  return values.page === undefined || values.page.includes(address);
}

function reportWeights(weights: readonly PageWeight[], floorBytes: number): void {
  console.log(`F ${kilobytes(floorBytes)} KB: a hello world on the same libraries, built with the same settings. All gzip.`);
  console.log(
    `Scripts ≤${limits.public} F (where content sleeps ≤${limits.asleep} F, awake ≤${limits.woken} F; chat ≤${limits.chat} F, any ≤${limits.any} F), styles ≤${limits.styles} F, texts ≤15 KB; each in its heaviest language.\n`,
  );
  console.log("| Route | Scripts KB | of F | awake, of F | Texts KB | Styles KB | of F | |\n|---|---|---|---|---|---|---|---|");
  for (const { address } of weights.filter(({ language, address }) => language === fallbackLanguage && isWanted(address))) {
    const all = weights.filter((weight) => weight.address === address);
    const worst = all.toSorted((one, other) => other.scriptBytes - one.scriptBytes)[0];
    if (!worst) continue;
    const { scriptBytes, wokenBytes, styleBytes, textBytes, language } = worst;
    const woken = wokenBytes === null ? "–" : (wokenBytes / floorBytes).toFixed(2);
    const sizes = [kilobytes(scriptBytes), (scriptBytes / floorBytes).toFixed(2), woken, kilobytes(textBytes)];
    const styles = [kilobytes(styleBytes), (styleBytes / floorBytes).toFixed(2)];
    const verdict = all.some((weight) => faultsOf(weight, floorBytes).length > 0) ? "MISSED" : "reached";
    console.log(`| ${address} (${language}) | ${[...sizes, ...styles, verdict].join(" | ")} |`);
  }
}

/** The English addresses in the sitemap. */
async function foundPages(url: string): Promise<string[]> {
  const sitemap = await (await fetch(new URL("/sitemap.xml", url))).text();
  const addresses = [...sitemap.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, address = ""]) => new URL(address));
  return addresses.filter(({ search }) => search === "").map(({ pathname }) => pathname);
}

async function inspectPages(folder: string, floorFolder: string): Promise<void> {
  const server = await startBenchServer();
  try {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const variables = {
      PORT: String(port),
      PUBLIC_URL: url,
      LOG_LEVEL: "error",
      NODE_ENV: "production",
      CONTACT_EMAIL: "team@example.com",
      POSTAL_ADDRESS: "Tessera, 1 Example Street, Example Town",
      MAIL_FROM: "Tessera <no-reply@example.com>",
      ENCRYPTION_KEY: "the key of a benchmark, which keeps nothing",
    };
    const environment = testEnvironment(server, variables);
    await startChild("client/api.ts", [folder], environment);
    await buildFloor(floorFolder);
    const floor = await serveFloor(floorFolder);
    console.log(`\nLighthouse, mobile, ${runs === 1 ? "one run" : `median of ${runs}`}\n`);
    console.log(`| Page | ${heading.join(" | ")} | load |\n|---|${"---|".repeat(heading.length + 1)}`);
    const remarks: string[] = [];
    for (const page of (await foundPages(url)).filter(isWanted)) {
      const figures = await inspect(url + page, `${floor.address}/`, runs);
      console.log(`| ${page} | ${figures.cells.join(" | ")} | ${load()} |`);
      if (figures.missed) remarks.push(`${page}\n    ${figures.remarks.join("\n    ")}`);
    }
    for (const remark of remarks) console.log(`\n${remark}`);
    await floor.close();
  } finally {
    await endChildren();
    await server.stop();
  }
}

const folder = await mkdtemp(path.join(tmpdir(), "tessera-bench-client-"));
const floorFolder = await mkdtemp(path.join(tmpdir(), "tessera-bench-floor-"));
try {
  const env = { ...process.env, NODE_ENV: "production" };
  await promisify(execFile)(process.execPath, ["client/build.ts", "--out-dir", folder], { cwd: root, env });
  reportWeights(await weighPages(folder), await weighFloor());
  if (runs > 0) await inspectPages(folder, floorFolder);
} finally {
  await Promise.all([folder, floorFolder].map((used) => rm(used, { recursive: true, force: true })));
}
