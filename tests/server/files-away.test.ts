/** The files of a question lie in a storage of ours. When that fails, the person is told so, and the model is not blamed. */
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { soldModel } from "#server/features/catalogue/service.ts";
import { storeFile } from "#server/features/files/service.ts";
import type { AnswerProcess, RunningModels } from "#tests/support/answers.ts";
import { ask, startModels } from "#tests/support/answers.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let models: RunningModels;
let product: AuthApp;
let api: AnswerProcess;
let folder: string;

beforeAll(async () => {
  models = await startModels();
  folder = await mkdtemp(path.join(tmpdir(), "tessera-away-"));
  product = await createAuthApp({ STORAGE_DIR: folder, SANDBOX_URL: models.url, SANDBOX_TOKEN: "token-of-the-tests" });
  await product.app.listen({ host: "127.0.0.1", port: 0 });
  api = { ...product, url: `http://127.0.0.1:${(product.app.server.address() as AddressInfo).port}` } as unknown as AnswerProcess;
});
afterAll(async () => {
  await product.close();
  await models.close();
  await rm(folder, { recursive: true, force: true });
});

/** A folder where a file was: whoever reads it gets an error of the disk. */
async function breakFiles(): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    await rm(file);
    await mkdir(file);
  }
}

test("a question whose files can't be read fails as ours, uncharged, and the model is neither asked nor paused", async () => {
  const ada = await createPerson(product, product.db, { plan: "professional" });
  const picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: "teal" } })
    .png()
    .toBuffer();
  const { id } = await storeFile(product.deps, { userId: ada.userId, kind: "attachment", name: "sea" }, picture);
  await breakFiles();
  const before = models.calls.list().length;
  const { receipt, text } = await ask(api, ada, { model: "gpt-6-luna", quotedCredits: 1, prompt: "What is on it?", attachments: [id] });
  expect([text, receipt]).toEqual(["", expect.objectContaining({ status: "failed", failureCode: "files_unreadable", chargedCredits: 0 })]);
  expect(models.calls.list()).toHaveLength(before);
  const model = soldModel(product.deps, "gpt-6-luna") ?? expect.fail("there is no such model");
  expect(product.deps.models.waitMs(model, ada.userId)).toBe(0);
});
