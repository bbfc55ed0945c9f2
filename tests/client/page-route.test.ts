import { parse } from "regexparam";
import { expect, it } from "vitest";
import { matchRoute } from "wouter";
import { page } from "#client/page-route.tsx";

it.each([
  ["/", "/", true],
  ["/pricing", "/pricing/", true],
  ["/pricing", "/Pricing", true],
  ["/pricing", "/pricing/old", false],
  ["/blog/:slug", "/blog/one", true],
  ["/blog/:slug", "/blog/one/two", false],
  ["/blog/:slug", "/blog/", false],
  ["/chat/*?", "/chat", true],
  ["/chat/*?", "/chat/one/two", true],
  ["/chat/*?", "/chats", false],
])("the page %s is fetched at %s exactly if the router shows it there: %s", (path, pathname, isThere) => {
  const { matches } = page(path, [], () => Promise.reject(new Error("not fetched")));
  expect([matches(pathname), matchRoute(parse, path, pathname)[0]]).toEqual([isThere, isThere]);
});
