/** Turns TeX into MathML elements. Only elements and attributes on a list are taken from temml's tree; with any other, nothing is drawn. */
import type { ReactNode } from "react";
import { createElement, Fragment } from "react";
import temml from "temml";

const elements = new Set(
  "math semantics annotation mrow mi mn mo ms mtext mspace mstyle mpadded mphantom mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd".split(
    " ",
  ),
);

const words = /^[a-z-]{1,24}$/;
/** No length in a formula may be larger than a page. */
const length = /^[-+]?\d{0,2}(?:\.\d+)?(?:em|ex|pt|px|%)?$/;
const attributes: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(
    "accent accentunder columnalign display fence form largeop mathvariant movablelimits separator stretchy symmetric"
      .split(" ")
      .map((name) => [name, words]),
  ),
  ...Object.fromEntries(
    "depth height linethickness lspace maxsize minsize rowspacing rspace voffset width".split(" ").map((name) => [name, length]),
  ),
  displaystyle: words,
  encoding: /^application\/x-tex$/,
  scriptlevel: /^[+-]?[0-3]$/,
  columnspan: /^\d{1,2}$/,
  rowspan: /^\d{1,2}$/,
};

const alignments: Readonly<Record<string, string>> = { "tml-left": "start", "tml-right": "end" };
const borders = { borderTop: "top", borderBottom: "bottom", borderLeft: "left", borderRight: "right" } as const;

/** A node of temml's tree: an element, a text, or a fragment with children only. */
interface Node {
  type?: string;
  text?: string;
  attributes?: Record<string, unknown>;
  classes?: string[];
  style?: Record<string, string>;
  children?: Node[];
}

class NotDrawn extends Error {}

const most = { depth: 60, nodes: 3_000, expansions: 300 } as const;

function allowed(node: Node): Record<string, string> {
  const given = Object.entries(node.attributes ?? {}).map(([name, value]) => [name, String(value)] as const);
  return Object.fromEntries(given.filter(([name, value]) => Object.hasOwn(attributes, name) && attributes[name]?.test(value)));
}

/** A cell's alignment and lines. Temml expresses them as classes and styles, which our content security policy does not allow. */
function cell({ classes = [], style = {} }: Node): Record<string, string | undefined> {
  const lines = Object.entries(borders).flatMap(([name, side]) => (style[name] ? [side] : []));
  return {
    "data-align": classes.map((name) => alignments[name]).find(Boolean),
    "data-lines": lines.length > 0 ? lines.join(" ") : undefined,
  };
}

function draw(node: Node, depth: number, count: { nodes: number }): ReactNode {
  count.nodes += 1;
  if (depth > most.depth || count.nodes > most.nodes) throw new NotDrawn("too much");
  const children = () => (node.children ?? []).map((child) => draw(child, depth + 1, count));
  if (node.text !== undefined) return node.text;
  if (node.type === undefined && node.attributes === undefined) return createElement(Fragment, null, ...children());
  // Its lines would need styles, so only its content is shown.
  const type = node.type === "menclose" ? "mrow" : node.type;
  if (type === undefined || !elements.has(type)) throw new NotDrawn(type ?? "no element");
  return createElement(type, { ...allowed(node), ...(type === "mtd" ? cell(node) : undefined) }, ...children());
}

/** Undefined if the TeX is not well-formed or needs something we don't draw. The source is shown then. */
export function drawFormula(tex: string, display: boolean): ReactNode | undefined {
  try {
    const options = { displayMode: display, annotate: true, throwOnError: true, trust: false, maxExpand: most.expansions };
    return draw(temml.__renderToMathMLTree(tex, options), 0, { nodes: 0 });
  } catch {
    // An error of temml's, nesting too deep for the call stack, or an element that is not on the list.
    return undefined;
  }
}
