import { beforeEach, describe, expect, it } from "vitest";
import { ownPath } from "#client/lib/own-path.ts";
import { stubPage } from "./page-stubs.ts";

beforeEach(() => void stubPage());

describe("an address in a link's parameter (`return=`, `page=`)", () => {
  it.each(["/profile", "/ai-models?prompt=A%20tile&model=gpt-5", "/pricing#packs", "/blog/a/../b"])("may be %s", (wanted) => {
    const { pathname, search, hash } = new URL(wanted, location.origin);
    expect(ownPath(wanted)).toBe(pathname + search + hash);
  });

  it.each([
    null,
    "",
    "profile",
    "https://elsewhere.example/",
    "//elsewhere.example/",
    "/\\elsewhere.example/",
    "/\t/elsewhere.example/",
    "/\n/elsewhere.example/",
    "/.//elsewhere.example/",
    "/a/..//elsewhere.example/",
    "javascript:alert(1)",
  ])("never leads elsewhere: %j", (wanted) => {
    expect(ownPath(wanted)).toBeNull();
  });
});
