/** Which zone may import which, as ARCHITECTURE.md's map has it. A file belongs to the first zone whose pattern matches. */
import type { Import } from "./imports.ts";

interface Zone {
  name: string;
  files: RegExp;
  /** The other zones it may import; it may always import itself. */
  mayImport: readonly string[];
}

/** Everything below the features. */
const plumbing = ["contract", "domain", "config", "faults", "failures", "db", "queue", "providers", "http"];

const zones: readonly Zone[] = [
  { name: "domain", files: /^server\/domain\//, mayImport: [] },
  { name: "contract", files: /^server\/contract\//, mayImport: ["domain"] },
  {
    name: "config",
    files: /^server\/(bucket|config|config-variables|environment|model-(changes|switches)|own-models|settings|stripe-config)\.ts$/,
    mayImport: ["domain"],
  },
  { name: "process", files: /^server\/process\.ts$/, mayImport: [] },
  { name: "faults", files: /^server\/fault-points\.ts$/, mayImport: [] },
  { name: "failures", files: /^server\/(failures|start-error)\.ts$/, mayImport: ["domain"] },
  { name: "db", files: /^server\/db\//, mayImport: ["domain", "config", "failures"] },
  { name: "queue", files: /^server\/queue\//, mayImport: ["domain", "config", "failures", "db"] },
  { name: "providers", files: /^server\/providers\//, mayImport: ["domain", "config", "failures", "db"] },
  { name: "http", files: /^server\/http\//, mayImport: ["contract", "domain", "config", "failures", "db"] },
  { name: "deps", files: /^server\/deps\.ts$/, mayImport: ["domain", "config", "db", "providers", "http"] },
  { name: "features", files: /^server\/features\//, mayImport: [...plumbing, "deps"] },
  { name: "app", files: /^server\/(app|main)\.ts$/, mayImport: [...plumbing, "deps", "features", "process"] },
  { name: "embedded", files: /^server\/embedded\//, mayImport: ["domain", "config", "failures", "db", "queue"] },
  { name: "commands", files: /^server\/commands\//, mayImport: [...plumbing, "deps", "features", "embedded"] },
  { name: "sandbox", files: /^sandbox\//, mayImport: ["contract", "domain"] },
  { name: "worker", files: /^worker\//, mayImport: [...plumbing, "deps", "features", "process"] },
  { name: "client plumbing", files: /^client\/(lib|offline|i18n|components|content|sw|paths\.ts)/, mayImport: ["contract", "domain"] },
  { name: "client features", files: /^client\/features\//, mayImport: ["contract", "domain", "client plumbing"] },
  { name: "client pages", files: /^client\//, mayImport: ["contract", "domain", "client plumbing", "client features"] },
  { name: "scripts", files: /^scripts\//, mayImport: ["domain", "contract", "client plumbing", "embedded"] },
];

function zoneOf(file: string): Zone {
  const zone = zones.find(({ files }) => files.test(file));
  if (!zone) throw new Error(`${file} belongs to no zone: add it to the map in tests/support/zones.ts`);
  return zone;
}

const featureOf = (file: string) => /^(?:server|client)\/features\/([^/]+)\//.exec(file)?.[1];

/** Says why the import is not allowed; undefined if it is. */
export function zoneFault({ from, to, typeOnly }: Import): string | undefined {
  const importer = zoneOf(from);
  const imported = zoneOf(to);
  if (importer !== imported && !importer.mayImport.includes(imported.name)) return `${importer.name} may not import ${imported.name}`;
  if (from.startsWith("client/") && imported.name === "contract" && !typeOnly) return "the client takes only types of the contract";
  const other = featureOf(from) !== undefined && featureOf(to) !== undefined && featureOf(from) !== featureOf(to);
  if (other && from.startsWith("client/")) return "a client feature may not import another";
  if (other && /[/-](queries|routes)\.ts$/.test(to)) return "a feature calls another's service, never its queries or routes";
  return undefined;
}

/** Rings of server features that import each other in a circle: none of them can be read without the others. Each ring is listed once. */
export function ringsOf(imports: readonly Import[]): string[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [importer, imported] = [featureOf(from), featureOf(to)];
    if (!from.startsWith("server/") || importer === undefined || imported === undefined || importer === imported) continue;
    next.set(importer, (next.get(importer) ?? new Set()).add(imported));
  }
  const reachedFrom = (feature: string): Set<string> => {
    const reached = new Set<string>();
    const walk = (one: string) => {
      for (const other of next.get(one) ?? []) if (!reached.has(other) && reached.add(other)) walk(other);
    };
    walk(feature);
    return reached;
  };
  const reached = new Map([...next.keys()].map((feature) => [feature, reachedFrom(feature)]));
  const ringOf = (feature: string) => [...(reached.get(feature) ?? [])].filter((other) => reached.get(other)?.has(feature));
  return [...new Set([...next.keys()].map((feature) => ringOf(feature).sort().join(" ")))].filter((ring) => ring !== "").sort();
}
