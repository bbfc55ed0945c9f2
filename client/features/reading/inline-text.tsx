import type { ReactNode } from "react";
import { createElement, Fragment } from "react";
import { Link } from "wouter";
import type { Inline } from "#client/content/piece.ts";

/** Renders parts as children. They never change their order, so they need no keys. */
export function inOrder(parts: readonly ReactNode[]): ReactNode {
  return createElement(Fragment, null, ...parts);
}

/** Inserts a word joiner (U+2060) after the hyphen of names such as GPT-5, so that browsers don't break the line there. */
export function unbroken(text: string): string {
  return text.replace(/([a-z]-)(?=\d)/gi, "$1\u2060");
}

function part(piece: Inline): ReactNode {
  if (typeof piece === "string") return unbroken(piece);
  switch (piece.type) {
    case "strong":
      return <strong>{inlineText(piece.content)}</strong>;
    case "emphasis":
      return <em>{inlineText(piece.content)}</em>;
    case "code":
      return <code>{piece.text}</code>;
    case "break":
      return <br />;
    case "link": {
      const content = inlineText(piece.content);
      return piece.to.startsWith("#") ? <a href={piece.to}>{content}</a> : <Link href={piece.to}>{content}</Link>;
    }
  }
}

export function inlineText(content: readonly Inline[]): ReactNode {
  return inOrder(content.map((piece) => part(piece)));
}
