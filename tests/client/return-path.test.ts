import { beforeEach, describe, expect, it } from "vitest";
import { safeReturnPath } from "#client/features/auth/auth-calls.ts";
import { stubPage } from "./page-stubs.ts";

beforeEach(() => void stubPage());

describe("the way back after signing in", () => {
  it.each(["/profile", "/ai-models?prompt=A%20tile&model=gpt-5", "/pricing#packs", "/blog/a/../b"])("leads to %s", (wanted) => {
    const { pathname, search, hash } = new URL(wanted, location.origin);
    expect(safeReturnPath(wanted, "/")).toBe(pathname + search + hash);
  });

  it.each([
    null,
    "",
    "profile",
    "https://elsewhere.example/",
    "//elsewhere.example/",
    "/\\elsewhere.example/",
    "/\t/elsewhere.example/",
    "/.//elsewhere.example/",
    "/a/..//elsewhere.example/",
    "javascript:alert(1)",
  ])("never leads elsewhere: %j", (wanted) => {
    expect(safeReturnPath(wanted, "/pricing")).toBe("/pricing");
  });
});
