/** Runs before the tests: finds or installs the programs they need, and prints one line for each that is still missing. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { findBrowser, findProgram, shellName } from "./browser.ts";

interface Need {
  what: string;
  /** Debian's package. */
  debianPackage: string;
  found(): boolean;
  /** Another way to install it, if apt did not. */
  otherwise?(): void;
  advice: string;
  /** The tests also run without it, but more slowly. */
  optional?: true;
}

const root = path.resolve(import.meta.dirname, "../..");
const fontFolders = [
  "/usr/share/fonts",
  "/usr/local/share/fonts",
  path.join(homedir(), ".local/share/fonts"),
  "/System/Library/Fonts",
  "/Library/Fonts",
];

function hasEastAsianFont(): boolean {
  const pattern = /(CJK|SourceHan|PingFang|Hiragino|wqy|ipa.*gothic)/i;
  return fontFolders.some(
    (folder) => existsSync(folder) && readdirSync(folder, { recursive: true }).some((file) => pattern.test(String(file))),
  );
}

function installBrowserByPlaywright(): void {
  spawnSync(process.execPath, [path.join(root, "node_modules/playwright-core/cli.js"), "install", "chromium"], {
    stdio: ["ignore", "inherit", "inherit"],
  });
}

const needs: Need[] = [
  {
    what: "a Chromium browser",
    debianPackage: "chromium",
    found: () => findBrowser() !== undefined,
    otherwise: installBrowserByPlaywright,
    advice: "install chromium (apt-get install -y chromium, or npx playwright-core install chromium)",
  },
  {
    what: "Chromium's headless shell",
    debianPackage: shellName,
    found: () => findProgram(shellName) !== undefined,
    advice: `install ${shellName}`,
    optional: true,
  },
  {
    what: "redis-server",
    debianPackage: "redis-server",
    found: () => findProgram("redis-server") !== undefined,
    advice: "install redis-server (apt-get install -y redis-server, or brew install redis)",
  },
  {
    what: "nginx",
    debianPackage: "nginx-light",
    found: () => findProgram("nginx") !== undefined,
    advice: "install nginx (apt-get install -y nginx-light, or brew install nginx)",
  },
  {
    what: "fonts for Chinese and Japanese",
    debianPackage: "fonts-noto-cjk",
    found: hasEastAsianFont,
    advice: "install Noto CJK fonts (apt-get install -y fonts-noto-cjk)",
  },
];

/** `withFreshLists` runs `apt-get update` first, which is slow: only for required packages. */
function installByApt(packages: readonly string[], withFreshLists: boolean): void {
  if (process.getuid?.() !== 0 || findProgram("apt-get") === undefined) return;
  console.log(`preflight: installing ${packages.join(", ")}`);
  const run = (parameters: readonly string[]) =>
    execFileSync("apt-get", ["-qq", "-o", "DPkg::Lock::Timeout=300", ...parameters], {
      stdio: ["ignore", "ignore", "pipe"],
      // No service is started for an installed redis-server or nginx: the tests start their own.
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" },
    });
  try {
    if (withFreshLists) run(["update"]);
  } catch {
    // The existing lists may be good enough.
  }
  for (const name of packages) {
    try {
      run(["install", "-y", "--no-install-recommends", name]);
    } catch {
      // The check below reports what is still missing.
    }
  }
}

const missing = needs.filter((need) => !need.found());
if (missing.length > 0) {
  installByApt(
    missing.map((need) => need.debianPackage),
    missing.some((need) => !need.optional),
  );
  for (const need of missing) if (!need.found()) need.otherwise?.();
  const still = missing.filter((need) => !need.optional && !need.found());
  for (const need of still) console.error(`preflight: the tests need ${need.what}: ${need.advice}`);
  if (still.length > 0) process.exit(1);
}
