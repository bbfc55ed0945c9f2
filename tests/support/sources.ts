/** Reads the project's files and their syntax trees, for the rules that tests check. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "vite";

export const root = path.resolve(import.meta.dirname, "../..");
/** For the processes that tests start: NODE_COMPILE_CACHE. */
export const compileCache = path.join(root, "node_modules/.cache/tessera-tests");
const skipped = new Set(["node_modules", "dist", ".git", ".data", "coverage"]);

/** Lists paths relative to the project's root, with forward slashes. */
export function listFiles(folder: string, pattern: RegExp): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    const file = folder === "." ? entry.name : `${folder}/${entry.name}`;
    // Other tests make hidden folders beside the sources, and remove them while this one reads.
    const isSkipped = skipped.has(entry.name) || (entry.name.startsWith(".") && folder !== ".");
    if (entry.isDirectory() && !isSkipped) found.push(...listFiles(file, pattern));
    if (entry.isFile() && pattern.test(entry.name)) found.push(file);
  }
  return found.sort();
}

export function read(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

export interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  [property: string]: unknown;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

/** Yields every node of the file's syntax tree, parents before children. */
export function* nodesOf(file: string): Generator<SyntaxNode> {
  const pending: unknown[] = [parseAst(read(file), { lang: file.endsWith("x") ? "tsx" : "ts" })];
  while (pending.length > 0) {
    const value = pending.pop();
    if (Array.isArray(value)) pending.push(...value);
    if (!isNode(value)) continue;
    yield value;
    for (const [key, child] of Object.entries(value)) if (key !== "parent" && typeof child === "object") pending.push(child);
  }
}

/** The line number of `offset`; the first line is 1. */
export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
