/** Lists which file of the project imports which, for the rules on zones and cycles. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { SyntaxNode } from "./sources.ts";
import { nodesOf, read, root } from "./sources.ts";

export interface Import {
  from: string;
  to: string;
  /** A type import, which is erased at run time. */
  typeOnly: boolean;
}

const aliases = Object.entries((JSON.parse(read("package.json")) as { imports: Record<string, string> }).imports).map(
  ([alias, target]) => ({
    prefix: alias.replace("*", ""),
    folder: target.replace("./", "").replace("*", ""),
  }),
);

/** The imported file's path from the root; undefined for packages. Throws if the file does not exist. */
function resolve(from: string, specifier: string): string | undefined {
  const alias = aliases.find(({ prefix }) => specifier.startsWith(prefix));
  const relative = specifier.startsWith(".");
  if (!alias && !relative) return undefined;
  const bare = specifier.split("?")[0] ?? specifier;
  const to = alias ? alias.folder + bare.slice(alias.prefix.length) : path.posix.join(path.posix.dirname(from), bare);
  if (!existsSync(path.join(root, to))) throw new Error(`${from} imports ${specifier}, which does not exist`);
  return to;
}

function isTypeOnly(node: SyntaxNode): boolean {
  const specifiers = (node.specifiers ?? []) as { importKind?: string; exportKind?: string }[];
  const kind = node.importKind ?? node.exportKind;
  return kind === "type" || (specifiers.length > 0 && specifiers.every((one) => (one.importKind ?? one.exportKind) === "type"));
}

const kinds = ["ImportDeclaration", "ExportNamedDeclaration", "ExportAllDeclaration", "ImportExpression"];

/** Every import of the project's own files, dynamic ones included. */
export function importsOf(files: readonly string[]): Import[] {
  return files.flatMap((from) =>
    [...nodesOf(from)].flatMap((node) => {
      const source = node.source as { value?: unknown } | null | undefined;
      if (!kinds.includes(node.type) || typeof source?.value !== "string") return [];
      const to = resolve(from, source.value);
      return to === undefined ? [] : [{ from, to, typeOnly: isTypeOnly(node) }];
    }),
  );
}

/** Lists each cycle once, as its files in order. */
export function cyclesOf(imports: readonly Import[]): string[] {
  const targets = Map.groupBy(imports, ({ from }) => from);
  const done = new Set<string>();
  const trail: string[] = [];
  const cycles: string[] = [];
  const visit = (file: string) => {
    const at = trail.indexOf(file);
    if (at >= 0) cycles.push([...trail.slice(at), file].join(" → "));
    if (at >= 0 || done.has(file)) return;
    trail.push(file);
    for (const { to } of targets.get(file) ?? []) visit(to);
    trail.pop();
    done.add(file);
  };
  for (const file of targets.keys()) visit(file);
  return cycles;
}
