import type { ReactNode } from "react";
import { createElement } from "react";
import type { Alignment, Block, Inline, WidgetName } from "#client/content/piece.ts";
import styles from "./blocks.module.css";
import type { Fill } from "./inline-text.tsx";
import { inlineText, inOrder } from "./inline-text.tsx";
import { PromptCard } from "./prompt-card.tsx";

export type Widgets = Partial<Readonly<Record<WidgetName, ReactNode>>>;

interface Drawing {
  fill: Fill;
  widgets: Widgets;
}

type Table = Extract<Block, { type: "table" }>;

function Row({ as, cells, align, fill }: { as: "th" | "td"; cells: readonly Inline[][]; align: readonly Alignment[]; fill: Fill }) {
  const scope = as === "th" ? "col" : undefined;
  const drawn = cells.map((cell, column) => createElement(as, { "data-align": align[column] ?? undefined, scope }, inlineText(cell, fill)));
  return <tr>{inOrder(drawn)}</tr>;
}

/** A wide table scrolls by itself, and so has to be reachable without a mouse. */
function TableView({ table, fill }: { table: Table; fill: Fill }) {
  const scrollable = { tabIndex: 0 };
  return (
    <div className={styles.table} {...scrollable}>
      <table>
        <thead>
          <Row as="th" cells={table.head} align={table.align} fill={fill} />
        </thead>
        <tbody>{inOrder(table.rows.map((cells) => createElement(Row, { as: "td", cells, align: table.align, fill })))}</tbody>
      </table>
    </div>
  );
}

/** A heading is a link to itself, so that anybody can pass its address on. */
function HeadingView({ heading, fill }: { heading: Extract<Block, { type: "heading" }>; fill: Fill }) {
  const Element = heading.level === 2 ? "h2" : "h3";
  return (
    <Element id={heading.id} className={styles.heading}>
      <a href={`#${heading.id}`}>{inlineText(heading.content, fill)}</a>
    </Element>
  );
}

function List({ list, drawing }: { list: Extract<Block, { type: "list" }>; drawing: Drawing }) {
  const items = inOrder(list.items.map((item) => createElement("li", null, blocks(item, drawing))));
  return list.start === null ? <ul>{items}</ul> : <ol start={list.start}>{items}</ol>;
}

function block(one: Block, drawing: Drawing): ReactNode {
  const { fill, widgets } = drawing;
  switch (one.type) {
    case "paragraph":
      return <p>{inlineText(one.content, fill)}</p>;
    case "line":
      return inlineText(one.content, fill);
    case "heading":
      return <HeadingView heading={one} fill={fill} />;
    case "list":
      return <List list={one} drawing={drawing} />;
    case "table":
      return <TableView table={one} fill={fill} />;
    case "quote":
      return <blockquote>{blocks(one.blocks, drawing)}</blockquote>;
    case "prompt":
      return <PromptCard modelId={one.model} text={fill(one.text)} />;
    case "widget":
      return widgets[one.name];
  }
}

function blocks(all: readonly Block[], drawing: Drawing): ReactNode {
  return inOrder(all.map((one) => block(one, drawing)));
}

/** The body of a piece. */
export function BlocksView({ all, fill, widgets }: { all: readonly Block[] } & Drawing) {
  return <div className={styles.prose}>{blocks(all, { fill, widgets })}</div>;
}
