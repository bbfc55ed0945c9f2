/**
 * Completes package-lock.json after `npm install`. If npm could not look up the optional packages of other platforms it leaves
 * them out, and `npm ci` then refuses the lock file everywhere. The script adds each missing package with the version that its
 * parent pins and the platform in its name. It also removes download addresses, so that the lock file does not depend on a
 * registry. Run `node scripts/complete-lock.ts`.
 */
import { readFileSync, writeFileSync } from "node:fs";

interface LockEntry {
  version?: string;
  resolved?: string;
  optional?: boolean;
  dev?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const systems = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32", "windows", "aix"];
const processors = ["arm64", "arm", "x64", "ia32", "ppc64", "riscv64", "s390x", "loong64", "mips64el", "wasm32"];

function platformOf(name: string): Pick<LockEntry, "os" | "cpu" | "libc"> {
  const words = name.split(/[-/]/);
  const os = systems.find((system) => words.includes(system));
  const cpu = processors.find((processor) => words.includes(processor));
  const libc = words.some((word) => word.startsWith("musl")) ? "musl" : words.some((word) => word.startsWith("gnu")) ? "glibc" : undefined;
  return {
    ...(cpu ? { cpu: [cpu] } : {}),
    ...(libc && os === "linux" ? { libc: [libc] } : {}),
    ...(os ? { os: [os === "windows" ? "win32" : os] } : {}),
  };
}

const path = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, LockEntry> };
const missing: string[] = [];
for (const [key, entry] of Object.entries(lock.packages)) {
  delete entry.resolved;
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const scope = key.lastIndexOf("node_modules/") > 0 ? `${key}/node_modules/${name}` : "";
    const target = `node_modules/${name}`;
    if ((scope && lock.packages[scope]) || lock.packages[target]) continue;
    const version = range.replace(/^[\^~]/, "");
    lock.packages[target] = { version, ...platformOf(name), ...(entry.dev ? { dev: true } : {}), optional: true };
    missing.push(`${name}@${version}`);
  }
}
const sorted = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`);
console.log(`${missing.length} platform packages added`);
