/** Starts a sandbox on free ports with its own data folder. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Sandbox } from "#sandbox/app.ts";
import { buildSandbox } from "#sandbox/app.ts";
import type { SandboxEnvironment } from "#sandbox/environment.ts";
import { readSandboxEnvironment } from "#sandbox/environment.ts";
import { freePort } from "#server/embedded/processes.ts";

export interface RunningSandbox extends Sandbox {
  url: string;
  smtpPort: number;
  environment: SandboxEnvironment;
}

/** `close` also removes the folder, unless `DATA_DIR` was given. */
export async function startSandbox(variables: NodeJS.ProcessEnv = {}): Promise<RunningSandbox> {
  const folder = variables.DATA_DIR ?? (await mkdtemp(path.join(tmpdir(), "tessera-sandbox-")));
  const environment = readSandboxEnvironment({
    SANDBOX_PORT: String(await freePort()),
    SANDBOX_TOKEN: "token-of-the-tests",
    LOG_LEVEL: "silent",
    DATA_DIR: folder,
    ...variables,
  });
  const sandbox = await buildSandbox(environment);
  const { url, smtpPort } = await sandbox.listen();
  return {
    ...sandbox,
    url,
    smtpPort,
    environment,
    async close() {
      await sandbox.close();
      if (variables.DATA_DIR === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
