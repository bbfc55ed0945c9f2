import { expect, it } from "vitest";
import { fragmentId } from "#client/lib/fragment.ts";

it.each([
  ["#packs", "packs"],
  ["#h%C3%A4ufige-fragen", "häufige-fragen"],
  ["#100%", "100%"],
  ["", ""],
])("the fragment of an address, %j, names %j and never breaks the page", (hash, id) => {
  expect(fragmentId(hash)).toBe(id);
});
