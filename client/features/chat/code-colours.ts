/** Colours code: lowlight parses it into a tree, which we turn into elements. No HTML is written or parsed. */
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import type { ReactNode } from "react";
import { createElement, Fragment } from "react";

const lowlight = createLowlight({
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  php,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
});
lowlight.registerAlias({ bash: ["shell", "console"] });

/** Maps the grammars' many token names to the few that have a colour. */
const kinds: Readonly<Record<string, string>> = {
  comment: "comment",
  quote: "comment",
  doctag: "comment",
  keyword: "keyword",
  "meta-keyword": "keyword",
  "selector-tag": "keyword",
  tag: "keyword",
  name: "keyword",
  deletion: "keyword",
  string: "string",
  regexp: "string",
  char: "string",
  addition: "string",
  "selector-attr": "string",
  number: "literal",
  literal: "literal",
  symbol: "literal",
  bullet: "literal",
  title: "name",
  section: "name",
  "selector-class": "name",
  "selector-id": "name",
  attr: "name",
  attribute: "name",
  property: "name",
  type: "type",
  built_in: "type",
  meta: "type",
};

type Node = ReturnType<typeof lowlight.highlight>["children"][number];

function kindOf(className: unknown): string | undefined {
  const [first] = Array.isArray(className) ? className : [];
  return kinds[String(first)];
}

/** Nested brackets give nested nodes. Real code does not nest this deep. */
const deepest = 50;

function drawn(nodes: readonly Node[], depth = 0): ReactNode {
  if (depth > deepest) throw new RangeError("nested too deep");
  const parts = nodes.map((node) => {
    if (node.type === "text") return node.value;
    if (node.type !== "element") return null;
    return createElement("span", { "data-kind": kindOf(node.properties.className) }, drawn(node.children as Node[], depth + 1));
  });
  return createElement(Fragment, null, ...parts);
}

/** Grammars need quadratic time for a very long word, and for many words without punctuation. That is not code, so we don't colour it. */
const unbroken = /\w{80}|.{1000}|[\w\s*&]{800}/;

/** Undefined if no grammar knows the language, or the grammar can't read this code. */
export function coloured(code: string, language: string): ReactNode | undefined {
  const name = language.toLowerCase();
  if (!lowlight.registered(name) || unbroken.test(code)) return undefined;
  try {
    return drawn(lowlight.highlight(name, code, { prefix: "" }).children);
  } catch {
    return undefined;
  }
}
