/** Reads the tests of a file: their titles, and whether `npm test` ever runs them. */
import type { SyntaxNode } from "./sources.ts";
import { nodesOf } from "./sources.ts";

interface Call extends SyntaxNode {
  callee: SyntaxNode;
  arguments: SyntaxNode[];
}

const isCall = (node: SyntaxNode): node is Call => node.type === "CallExpression";

/** Of `it.runIf(full).each(rows)`: "it", and the calls "runIf" and "each" by what they were given. */
function chainOf(node: SyntaxNode): { root: string; given: Map<string, SyntaxNode[]> } {
  const given = new Map<string, SyntaxNode[]>();
  let at = node;
  for (;;) {
    if (isCall(at)) {
      const { property } = at.callee as { property?: { name?: string } };
      if (property?.name) given.set(property.name, at.arguments);
      at = at.callee;
    } else if (at.type === "MemberExpression") at = at.object as SyntaxNode;
    else return { root: (at.name as string | undefined) ?? "", given };
  }
}

export interface TestCall {
  node: SyntaxNode;
  kind: "it" | "describe";
  /** Undefined if the title is not a literal at the call. */
  title: string | undefined;
  /** What `.each` was given. */
  rows: SyntaxNode | undefined;
  /** Only `npm run test:full` has it, because of itself or of what surrounds it. */
  onlyInFull: boolean;
}

function textOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type !== "TemplateLiteral") return undefined;
  return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join("%s");
}

/** Every call of `it`, `test` and `describe`, modifiers included. */
export function testCalls(file: string): TestCall[] {
  const calls = [...nodesOf(file)].filter(isCall).flatMap((node) => {
    const { root, given } = chainOf(node.callee);
    const { property } = node.callee as { property?: { name?: string } };
    // `it.each(rows)` is only the beginning of a call, and `test` is also what a test calls its context.
    if (!["it", "test", "describe"].includes(root) || ![undefined, "concurrent", "sequential"].includes(property?.name)) return [];
    const full = given.get("runIf")?.some(({ name }) => name === "full") ?? false;
    return [{ node, kind: root === "describe" ? ("describe" as const) : ("it" as const), given, full }];
  });
  const only = calls.filter(({ full }) => full);
  return calls.map(({ node, kind, given }) => ({
    node,
    kind,
    title: textOf(node.arguments[0]),
    rows: (given.get("each") ?? given.get("for"))?.[0],
    onlyInFull: only.some((outer) => outer.node.start <= node.start && node.end <= outer.node.end),
  }));
}

/** The texts by which the rows of `.each` or of a loop can be named: a row itself, its first value, or its fields. */
function* rowNames(node: SyntaxNode | null | undefined, constants: ReadonlyMap<string, SyntaxNode>): Generator<string> {
  if (!node) return;
  const text = textOf(node);
  if (text !== undefined) yield text;
  const child = (name: string) => node[name] as SyntaxNode | undefined;
  const children = (name: string) => (node[name] as (SyntaxNode | null)[] | undefined) ?? [];
  if (node.type === "Identifier") yield* rowNames(constants.get(node.name as string), constants);
  for (const element of children("elements")) {
    const row = element?.type === "ArrayExpression" ? (element.elements as SyntaxNode[])[0] : element;
    yield* rowNames(row, constants);
  }
  for (const property of children("properties")) {
    yield textOf(property?.key as SyntaxNode) ?? "";
    yield textOf(property?.value as SyntaxNode) ?? "";
  }
  for (const argument of children("arguments")) yield* rowNames(argument, constants);
  for (const name of ["expression", "argument", "callee", "object"]) yield* rowNames(child(name), constants);
}

/** The titles of the file's tests and groups, with `%s` for what is filled in, and what `.each` or a loop fills in. */
export function testNames(file: string): string[] {
  const constants = new Map<string, SyntaxNode>();
  const loops: SyntaxNode[] = [];
  for (const node of nodesOf(file)) {
    const { id, init } = node as { id?: { name?: string }; init?: SyntaxNode };
    if (node.type === "VariableDeclarator" && id?.name && init) constants.set(id.name, init);
    if (node.type === "ForOfStatement") loops.push(node);
  }
  return testCalls(file).flatMap(({ node, title, rows }) => {
    const around = loops.filter(({ start, end }) => start < node.start && node.end <= end).map(({ right }) => right as SyntaxNode);
    const filledIn = [rows, ...around].flatMap((source) => [...rowNames(source, constants)]);
    return title === undefined ? filledIn : [title, ...filledIn];
  });
}
