/** What every place for files does alike, a folder and buckets. The buckets are at two servers from npm. */
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { inTransaction } from "#server/db/transaction.ts";
import { failureKind } from "#server/failures.ts";
import { createDiskStorage } from "#server/providers/storage/disk.ts";
import { createS3Storage } from "#server/providers/storage/s3.ts";
import type { FileStorage } from "#server/providers/storage/storage.ts";
import type { RunningBucket } from "#tests/support/bucket.ts";
import { startBucket, startPlainBucket } from "#tests/support/bucket.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

const limit = 1024 * 1024;
let folder: string;
let storage: FileStorage;
let again: () => FileStorage;
let bucket: RunningBucket;
let plain: RunningBucket;

const bucketAt = (more: object = {}) => createS3Storage({ ...bucket.place, ...more });

beforeAll(async () => {
  [bucket, plain] = await Promise.all([startBucket(), startPlainBucket()]);
});
afterAll(() => Promise.all([bucket.close(), plain.close()]));
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tessera-storage-"));
});
afterEach(() => rm(folder, { recursive: true }));

const kinds = [
  ["a folder", () => createDiskStorage(path.join(folder, "files"))],
  ["a bucket", () => bucketAt()],
  ["a bucket without ranges", () => createS3Storage(plain.place)],
] as const;

async function* bytesOf(...chunks: string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function textOf(name: string, range?: { first: number; last: number }): Promise<string | undefined> {
  const found = await storage.get(name, range);
  return found && (await buffer(found.content)).toString();
}

/** All files below the folder, by name. */
async function filesThere(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

describe.each(kinds)("%s", (kind, open) => {
  beforeEach(() => {
    storage = open();
    again = open;
  });

  test("what was put is read back, whole or a range of it, until it is deleted", async () => {
    const name = randomUUID();
    expect(await storage.exists(name)).toBe(false);
    expect(await storage.get(name)).toBeUndefined();
    expect(await storage.put(name, bytesOf("Hello, ", "tessera"), limit)).toBe(14);
    expect(await storage.exists(name)).toBe(true);
    expect(await textOf(name)).toBe("Hello, tessera");
    expect(await textOf(name, { first: 7, last: 9 })).toBe("tes");
    expect(await textOf(name, { first: 7, last: 1_000 })).toBe("tessera");
    const first = await storage.get(name, { first: 0, last: 0 });
    expect(first?.bytes).toBe(14);
    first?.content.destroy();
    expect(await textOf(name, { first: 14, last: 20 })).toBe("");
    // Another process sees it too.
    expect(await again().exists(name)).toBe(true);
    await storage.delete(name);
    await storage.delete(name);
    expect(await storage.exists(name)).toBe(false);
    expect(await textOf(name)).toBeUndefined();
  });

  test("a file above its limit is refused at its first byte too many, and leaves nothing", async () => {
    const name = randomUUID();
    let asked = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        asked += 1;
        yield Buffer.alloc(1_024);
      }
    }
    const refused = await storage.put(name, endless(), 4_096).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: "FileTooLarge" });
    expect(failureKind(refused)).toBe("refusal");
    expect(asked).toBeLessThan(100);
    expect(await storage.exists(name)).toBe(false);
    expect(await storage.put(name, bytesOf("1234"), 4)).toBe(4);
  });

  test("a file whose source breaks off is not there, and one of the same name stays as it was", async () => {
    const name = randomUUID();
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("half");
      throw new Error("the upload broke off");
    }
    await expect(storage.put(name, broken(), limit)).rejects.toThrow("the upload broke off");
    expect(await storage.exists(name)).toBe(false);
    await storage.put(name, bytesOf("whole"), limit);
    await expect(storage.put(name, broken(), limit)).rejects.toThrow();
    expect(await textOf(name)).toBe("whole");
  });

  test("a reader sees the file as it was when reading began, whole, while another replaces it", async () => {
    const name = randomUUID();
    const [before, after] = ["a".repeat(300_000), "b".repeat(300_000)];
    await storage.put(name, bytesOf(before), limit);
    const found = await storage.get(name);
    await storage.put(name, bytesOf(after), limit);
    expect(found && (await buffer(found.content)).toString()).toBe(before);
    expect(await textOf(name)).toBe(after);
  });

  test("no name leads out of the folder", async () => {
    await writeFile(path.join(folder, "secret-outside-of-the-folder"), "secret");
    const names = [
      "../secret-outside-of-the-folder",
      "..",
      "",
      "a",
      `${"a/".repeat(12)}b`,
      `${"a".repeat(22)}\0`,
      "/etc/passwd",
      "A".repeat(30),
    ];
    for (const name of [...names, `..\\${"a".repeat(30)}`, "incoming/aaaaaaaaaaaaaaaaaaaaaaaa", `${"a".repeat(24)}\n`]) {
      await expect(storage.get(name), name).rejects.toThrow("a stored file's name");
      await expect(storage.put(name, bytesOf("x"), limit), name).rejects.toThrow("a stored file's name");
      await expect(storage.exists(name), name).rejects.toThrow("a stored file's name");
      await expect(storage.delete(name), name).rejects.toThrow("a stored file's name");
    }
    await storage.check();
  });

  test.skipIf(kind === "a bucket without ranges")(
    "a file of many parts comes back as it was, and one that breaks off late is not there",
    async () => {
      const part = Buffer.alloc(1024 * 1024);
      const parts = Array.from({ length: 17 }, (_, index) => Buffer.concat([part.subarray(4), Buffer.from(`${index}`.padStart(4, "0"))]));
      const name = randomUUID();
      async function* whole() {
        yield* parts;
      }
      async function* broken() {
        yield* parts;
        throw new Error("the upload broke off late");
      }
      await expect(storage.put(name, broken(), 32 * limit)).rejects.toThrow("broke off late");
      expect(await storage.exists(name)).toBe(false);
      expect(await storage.put(name, whole(), 32 * limit)).toBe(17 * limit);
      const found = await storage.get(name);
      expect(found && Buffer.concat(parts).equals(await buffer(found.content))).toBe(true);
      expect(await textOf(name, { first: 17 * limit - 4, last: 17 * limit })).toBe("0016");
    },
  );

  test("within a transaction every call is refused, and the transaction fails", async () => {
    const database = await createTestDatabase();
    const name = randomUUID();
    const calls = [
      () => storage.put(name, bytesOf("x"), limit),
      () => storage.get(name),
      () => storage.exists(name),
      () => storage.delete(name),
    ];
    for (const call of calls)
      await expect(inTransaction<unknown>(database.db, call)).rejects.toThrow("The file storage was called within a transaction");
    await database.drop();
    expect(await storage.exists(name)).toBe(false);
  });
});

describe("a folder", () => {
  beforeEach(() => {
    storage = createDiskStorage(path.join(folder, "files"));
  });

  test("keeps nothing of what was refused, broke off or was deleted", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("half");
      throw new Error("the upload broke off");
    }
    const name = randomUUID();
    await storage.put(name, bytesOf("x"), limit);
    await storage.delete(name);
    await expect(storage.put(name, bytesOf("12345"), 4)).rejects.toThrow();
    await expect(storage.put(name, broken(), limit)).rejects.toThrow();
    expect(await filesThere()).toEqual([]);
  });

  test("what a killed process left half-written is removed a day later, and what is being written stays", async () => {
    await storage.put(randomUUID(), bytesOf("x"), limit);
    const [old, fresh] = ["old", "fresh"].map((name) => path.join(folder, "files/incoming", name));
    for (const file of [old, fresh]) await writeFile(file ?? "", "half");
    const yesterday = new Date(Date.now() - 25 * 60 * 60_000);
    await utimes(old ?? "", yesterday, yesterday);
    const name = randomUUID();
    await createDiskStorage(path.join(folder, "files")).put(name, bytesOf("x"), limit);
    expect(await readdir(path.join(folder, "files/incoming"))).toEqual(["fresh"]);
  });
});

describe("a server that does not do its part is an outage, and no other error is", () => {
  const failureOf = async (place: FileStorage) => {
    const name = randomUUID();
    const calls = [() => place.put(name, bytesOf("x"), limit), () => place.get(name), () => place.delete(name), () => place.check()];
    return Promise.all(calls.map((call) => call().then(() => "none", failureKind)));
  };

  test.each<[string, object]>([
    ["does not accept our key", { secretAccessKey: "another" }],
    ["lacks the bucket", { name: "no-such-bucket" }],
  ])("it %s", async (_name, more) => {
    expect(await failureOf(bucketAt(more))).toEqual(["outage", "outage", "outage", "outage"]);
  });

  test("it is not there", async () => {
    expect(await failureOf(bucketAt({ endpoint: new URL("http://127.0.0.1:9") }))).toEqual(["outage", "outage", "outage", "outage"]);
  });
});
