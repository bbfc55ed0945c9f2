import { expect, it } from "vitest";
import { fragmentId } from "#client/lib/fragment.ts";

it.each([
  ["#packs", "packs"],
  ["#h%C3%A4ufige-fragen", "häufige-fragen"],
  ["#100%", "100%"],
  ["", ""],
])("the fragment %j names the id %j, even if it is malformed", (hash, id) => {
  expect(fragmentId(hash)).toBe(id);
});
