/** Rules for conversations. They are in a file of their own because only the chat and the server load them. */
import { codePoints } from "./rules.ts";

export const conversationLimits = { titleMax: 120, searchMax: 100, pinnedMax: 20 } as const;

export const titleMessages = {
  empty: "Title cannot be empty",
  long: `Title must be less than ${conversationLimits.titleMax} characters`,
} as const;

/** A title as it is stored: on one line. */
export function tidyTitle(value: string): string {
  return value.replace(/\s+/g, " ").trim();
}

/** The rule that a title breaks, if any: a key of `titleMessages`. Length is counted in code points. */
export function checkTitle(value: string): keyof typeof titleMessages | undefined {
  const title = tidyTitle(value);
  if (title === "") return "empty";
  return codePoints(title) > conversationLimits.titleMax ? "long" : undefined;
}
