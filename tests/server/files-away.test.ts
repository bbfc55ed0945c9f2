/** The files of a question lie in a storage of ours. When that fails, the person is told so, and the model is not blamed. */
import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { soldModel } from "#server/features/catalogue/service.ts";
import { storeFile } from "#server/features/files/service.ts";
import type { AnswerProcess, RunningModels } from "#tests/support/answers.ts";
import { ask } from "#tests/support/answers.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import type { FilesProduct } from "./files-support.ts";
import { startFilesProduct } from "./files-support.ts";

let world: FilesProduct;
let models: RunningModels;
let product: AuthApp;
let api: AnswerProcess;
let folder: string;

beforeAll(async () => {
  world = await startFilesProduct();
  ({ models, product, api, folder } = world);
});
afterAll(() => world.close());

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
