import type { ReactNode } from "react";
import { createElement } from "react";
import type { Block, WidgetName } from "#client/content/piece.ts";
import styles from "./blocks.module.css";
import { inlineText, inOrder } from "./inline-text.tsx";
import { PromptCard } from "./prompt-card.tsx";

export type Widgets = Partial<Readonly<Record<WidgetName, ReactNode>>>;

type Table = Extract<Block, { type: "table" }>;

/** A wide table scrolls, so it must be reachable by keyboard. On a phone its rows are lists, with each cell under its header. */
function TableView({ table }: { table: Table }) {
  const scrollable = { tabIndex: 0 };
  const cell = (as: "th" | "td", content: ReactNode, column: number) =>
    createElement(
      as,
      { "data-align": table.align[column], ...(as === "th" ? { scope: "col" } : { "data-head": table.head[column] }) },
      content,
    );
  return (
    <div className={styles.table} {...scrollable}>
      <table data-columns={table.head.length}>
        <thead>
          <tr>{inOrder(table.head.map((head, column) => cell("th", head, column)))}</tr>
        </thead>
        <tbody>
          {inOrder(
            table.rows.map((cells) =>
              createElement("tr", null, ...cells.map((content, column) => cell("td", inlineText(content), column))),
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

/** A heading links to itself, so that its address can be copied. */
function HeadingView({ heading }: { heading: Extract<Block, { type: "heading" }> }) {
  const Element = heading.level === 2 ? "h2" : "h3";
  return (
    <Element id={heading.id} className={styles.heading}>
      <a href={`#${heading.id}`}>{inlineText(heading.content)}</a>
    </Element>
  );
}

function List({ list, widgets }: { list: Extract<Block, { type: "list" }>; widgets: Widgets }) {
  const items = inOrder(list.items.map((item) => createElement("li", null, blocks(item, widgets))));
  return list.start === null ? <ul>{items}</ul> : <ol start={list.start}>{items}</ol>;
}

function block(one: Block, widgets: Widgets): ReactNode {
  switch (one.type) {
    case "paragraph":
      return <p>{inlineText(one.content)}</p>;
    case "line":
      return inlineText(one.content);
    case "heading":
      return <HeadingView heading={one} />;
    case "list":
      return <List list={one} widgets={widgets} />;
    case "table":
      return <TableView table={one} />;
    case "quote":
      return <blockquote>{blocks(one.blocks, widgets)}</blockquote>;
    case "prompt":
      return <PromptCard model={one.model} text={one.text} />;
    case "widget":
      return widgets[one.name];
  }
}

function blocks(all: readonly Block[], widgets: Widgets): ReactNode {
  return inOrder(all.map((one) => block(one, widgets)));
}

/** The body of a piece. */
export function BlocksView({ all, widgets }: { all: readonly Block[]; widgets: Widgets }) {
  return <div className={styles.prose}>{blocks(all, widgets)}</div>;
}
