/** What a message says, of its parts those that are text. In a file of its own, for pages that know no other rule of conversations. */
export function textOf({ parts }: { parts: readonly { kind: string; text?: string }[] }): string {
  return parts.map((part) => (part.kind === "text" ? (part.text ?? "") : "")).join("");
}
