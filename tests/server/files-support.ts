import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { AnswerProcess, RunningModels } from "#tests/support/answers.ts";
import { startModels } from "#tests/support/answers.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

/** A product that listens, with the sandbox's models, and files in a folder of its own. */
export interface FilesProduct {
  models: RunningModels;
  product: AuthApp;
  api: AnswerProcess;
  folder: string;
  close(): Promise<void>;
}

export async function startFilesProduct(): Promise<FilesProduct> {
  const models = await startModels();
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-files-"));
  const product = await createAuthApp({ STORAGE_DIR: folder, SANDBOX_URL: models.url, SANDBOX_TOKEN: "token-of-the-tests" });
  await product.app.listen({ host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${(product.app.server.address() as AddressInfo).port}`;
  const close = async () => {
    await product.close();
    await models.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { models, product, api: { ...product, url } as unknown as AnswerProcess, folder, close };
}
