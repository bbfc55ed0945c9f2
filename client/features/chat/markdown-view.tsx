import type { MarkedToken, Token, Tokens } from "marked";
import type { ReactNode } from "react";
import { createElement, Fragment, memo, use, useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";
import { CopyButton } from "./copy-button.tsx";
import type { Formula } from "./formulas.ts";
import { lateModule } from "./late-module.ts";
import styles from "./markdown.module.css";
import type { LexedText, TextEnd } from "./markdown-blocks.ts";
import { decodeEntities, lexGrowing, nothingLexed, safeHref } from "./markdown-blocks.ts";
import { TextMarks } from "./text-marks.ts";

function Words({ text }: { text: string }): ReactNode {
  const marked = use(TextMarks);
  return marked ? marked(text) : text;
}

/** Wide code and tables scroll, so they have to be reachable with the keyboard. */
const scrollable = { tabIndex: 0 };

/**
 * Renders parts in order. They never change places, so their position is enough to identify them and they need no keys.
 */
function inOrder(parts: readonly ReactNode[]): ReactNode {
  return createElement(Fragment, null, ...parts);
}

/** Deeper nesting than anybody writes is shown as source, so that an answer can't exhaust the call stack. */
const deepest = 16;

const useColours = lateModule(() => import("./code-colours.ts"));
const useDrawing = lateModule(() => import("./formula-drawing.ts"));

/** Longer code is not coloured, because parsing it would block the page. */
const longestColoured = 20_000;
/** Code is coloured once it is complete; before that the colours would change with every letter. */
const closingFence = /\n[ \t>]*(?:`{3,}|~{3,})\s*$/;

function CodeBlock({ token }: { token: Tokens.Code }) {
  const { t } = useTranslation("chat");
  const language = token.lang?.split(/\s/)[0] ?? "";
  const isColoured = language !== "" && token.text.length <= longestColoured && closingFence.test(token.raw);
  const colours = useColours(isColoured);
  const code = useMemo(() => colours?.coloured(token.text, language) ?? token.text, [colours, token.text, language]);
  return (
    <figure className={styles.code} aria-label={language || t("answer.code")}>
      <div className={styles.codeBar}>
        <span>{language || t("answer.code")}</span>
        <CopyButton label={t("answer.copyCode")} text={token.text} />
      </div>
      <pre {...scrollable}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}

/** A formula. Its source is shown until the code that draws it is loaded, and if it is not well-formed. */
function FormulaView({ formula }: { formula: Formula }) {
  const drawing = useDrawing(true);
  const drawn = useMemo(() => drawing?.drawFormula(formula.tex, formula.display), [drawing, formula.tex, formula.display]);
  if (drawn === undefined) return <code className={styles.source}>{formula.raw.trim()}</code>;
  return formula.display ? (
    <span className={styles.formula} {...scrollable}>
      {drawn}
    </span>
  ) : (
    drawn
  );
}

function SafeLink({ href, children }: { href: string; children: ReactNode }) {
  const safe = safeHref(href);
  if (safe === undefined) return <>{children}</>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow">
      <TextMarks value={null}>{children}</TextMarks>
    </a>
  );
}

/** A picture in an answer could be loaded from anywhere, so we show a link instead. */
function ImageLink({ token }: { token: Tokens.Image }) {
  const { t } = useTranslation("chat");
  return <SafeLink href={token.href}>{token.text ? t("answer.image", { text: token.text }) : t("answer.imageUntitled")}</SafeLink>;
}

function inline(tokens: readonly Token[] | undefined, depth: number): ReactNode {
  return tokens && inOrder(tokens.map((token) => createElement(Inline, { token: token as MarkedToken, depth: depth + 1 })));
}

function Inline({ token, depth }: { token: MarkedToken | Formula; depth: number }): ReactNode {
  if (depth > deepest) return token.raw;
  switch (token.type) {
    case "formula":
      return <FormulaView formula={token as Formula} />;
    case "strong":
      return <strong>{inline(token.tokens, depth)}</strong>;
    case "em":
      return <em>{inline(token.tokens, depth)}</em>;
    case "del":
      return <del>{inline(token.tokens, depth)}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "escape":
      return token.text;
    case "link":
      return <SafeLink href={token.href}>{inline(token.tokens, depth)}</SafeLink>;
    case "image":
      return <ImageLink token={token} />;
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "text":
      return token.tokens ? inline(token.tokens, depth) : <Words text={decodeEntities(token.text)} />;
    default:
      // HTML and unknown tokens are shown as they were written.
      return token.raw;
  }
}

function blocks(tokens: readonly Token[], depth: number): ReactNode {
  return inOrder(tokens.map((token) => createElement(Block, { token: token as MarkedToken, depth: depth + 1 })));
}

function Cell({ as, cell, align, depth }: { as: "th" | "td"; cell: Tokens.TableCell; align: string | null | undefined; depth: number }) {
  return createElement(as, { "data-align": align ?? undefined }, inline(cell.tokens, depth));
}

function Table({ token, depth }: { token: Tokens.Table; depth: number }) {
  const row = (as: "th" | "td", cells: readonly Tokens.TableCell[]) =>
    createElement("tr", null, inOrder(cells.map((cell, index) => createElement(Cell, { as, cell, align: token.align[index], depth }))));
  return (
    <div className={styles.table} {...scrollable}>
      <table>
        <thead>{row("th", token.header)}</thead>
        <tbody>{inOrder(token.rows.map((cells) => row("td", cells)))}</tbody>
      </table>
    </div>
  );
}

function List({ token, depth }: { token: Tokens.List; depth: number }) {
  const items = inOrder(token.items.map((item) => createElement("li", null, blocks(item.tokens, depth))));
  return token.ordered ? <ol start={token.start === "" ? undefined : token.start}>{items}</ol> : <ul>{items}</ul>;
}

/** An answer's headings get lower levels than the page's, so that the page's outline stays correct. */
function Heading({ token, depth }: { token: Tokens.Heading; depth: number }) {
  const Element = token.depth <= 1 ? "h3" : token.depth === 2 ? "h4" : "h5";
  return <Element>{inline(token.tokens, depth)}</Element>;
}

function Block({ token, depth }: { token: MarkedToken | Formula; depth: number }): ReactNode {
  if (depth > deepest) return <p>{token.raw}</p>;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "paragraph":
      return <p>{inline(token.tokens, depth)}</p>;
    case "heading":
      return <Heading token={token} depth={depth} />;
    case "code":
      return <CodeBlock token={token} />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens, depth)}</blockquote>;
    case "list":
      return <List token={token} depth={depth} />;
    case "table":
      return <Table token={token} depth={depth} />;
    case "hr":
      return <hr />;
    case "html":
      return <p>{token.raw}</p>;
    default:
      return <Inline token={token} depth={depth} />;
  }
}

/** Blocks with the same source are not rendered again, so only the end of a growing answer is. */
const TopBlock = memo(
  function TopBlock({ token }: { token: Token }) {
    return <Block token={token as MarkedToken} depth={0} />;
  },
  (before, after) => before.token === after.token || (before.token.raw === after.token.raw && before.token.type === after.token.type),
);

/** Blocks per group. The browser skips groups outside the window, so a long answer stays cheap to grow. */
const groupSize = 16;

/** A group of blocks. It renders again only if one of them has changed. */
const Group = memo(
  function Group({ tokens }: { tokens: readonly Token[] }) {
    return <div className={styles.group}>{inOrder(tokens.map((token) => createElement(TopBlock, { token })))}</div>;
  },
  (before, after) => before.tokens.length === after.tokens.length && before.tokens.every((token, index) => token === after.tokens[index]),
);

function groups(tokens: readonly Token[]): ReactNode {
  const count = Math.ceil(tokens.length / groupSize);
  return inOrder(
    Array.from({ length: count }, (_, index) => createElement(Group, { tokens: tokens.slice(index * groupSize, (index + 1) * groupSize) })),
  );
}

/**
 * Renders an answer as React elements built from tokens. No HTML is parsed, and nothing in an answer can run code or load anything. One
 * instance for each answer; `text` may only grow while `end` says that it does.
 */
export const Markdown = memo(function Markdown({ text, end }: { text: string; end: TextEnd }) {
  const lexed = useRef<LexedText>(nothingLexed);
  lexed.current = lexGrowing(text, lexed.current, end);
  return <div className={styles.markdown}>{groups(lexed.current.blocks)}</div>;
});
