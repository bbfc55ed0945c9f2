/** An answer that still grows, or was cut off, hides unfinished markup. */
import { describe, expect, it } from "vitest";
import { closeUnfinished } from "#client/features/chat/unfinished-end.ts";

describe("the end of an unfinished answer", () => {
  it.each([
    ["*", ""],
    ["Some **", "Some "],
    ["Some **bo", "Some **bo**"],
    ["Some **bold*", "Some **bold**"],
    ["Some **bold**", "Some **bold**"],
    ["Some *it", "Some *it*"],
    ["Some ***both", "Some ***both***"],
    ["**a *b", "**a *b***"],
    ["Some _it ", "Some _it_"],
    ["*a *", "*a*"],
    ["***a** b", "***a** b*"],
    ["***a* b", "***a* b**"],
    ["~~gone", "~~gone~~"],
    ["a `code", "a `code`"],
    ["a `code`", "a `code`"],
    ["a ``x`y", "a ``x`y``"],
    ["see [the gu", "see the gu"],
    ["see [the guide](https://exa", "see the guide"],
    ["see ![a **pict", "see a **pict**"],
    ["see [the guide](https://example.com)", "see [the guide](https://example.com)"],
    ["- **One**: a\n- **Tw", "- **One**: a\n- **Tw**"],
    ["First\n\n**Sec", "First\n\n**Sec**"],
    ["Heading\n-", "Heading"],
    ["Text\n1.", "Text"],
    ["Great![", "Great"],
    ["| a | b |\n|---|---|\n| **x | y |", "| a | b |\n|---|---|\n| **x | y |"],
    ["| a | b |\n|---|---|\n| x | **y", "| a | b |\n|---|---|\n| x | **y**"],
  ])("%j is shown as %j", (text, shown) => expect(closeUnfinished(text)).toBe(shown));

  it.each([
    "2 * 3 is 6",
    "snake_case_name",
    "a \\*star",
    "```js\nlet a = b *",
    "```js\na\n```",
    "Done [1]",
    "Great!",
    "In 2023\n2024",
    "4",
    "5 ~ 6",
    "**Bold** and `code` and [x](https://example.com).",
    "",
  ])("%j stays as it is", (text) => expect(closeUnfinished(text)).toBe(text));
});
