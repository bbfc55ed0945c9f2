/** The text of a message, without its other parts. In a file of its own, for pages that need no other rule of conversations. */
export function textOf({ parts }: { parts: readonly { kind: string; text?: string }[] }): string {
  return parts.map((part) => (part.kind === "text" ? (part.text ?? "") : "")).join("");
}
