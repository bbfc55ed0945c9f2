/** Checks that the texts named in docs/specification.md exist. Its files and tests: documents.test.ts. */
import { existsSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { read, root } from "#tests/support/sources.ts";

const table = read("docs/specification.md");

it("the table of the specification names texts that exist", () => {
  const named = [...table.matchAll(/`([a-z-]+):([\w.]+)`/g)].map(([, namespace = "", key = ""]) => ({ namespace, key }));
  expect(named.length).toBeGreaterThan(50);
  const missing = named.filter(({ namespace, key }) => {
    const file = `client/i18n/locales/en/${namespace}.json`;
    if (!existsSync(path.join(root, file))) return true;
    return (
      key.split(".").reduce<unknown>((texts, part) => (texts as Record<string, unknown> | undefined)?.[part], JSON.parse(read(file))) ===
      undefined
    );
  });
  expect(missing).toEqual([]);
});
