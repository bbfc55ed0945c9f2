/** The child processes and users of a benchmark. */
import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify from "fastify";
import { readConfig } from "#server/config.ts";
import { freePort } from "#server/embedded/processes.ts";
import { registerTokens } from "#server/features/auth/tokens.ts";
import type { App } from "#server/http/app-type.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { createPerson } from "#tests/support/people.ts";
import manifest from "../../package.json" with { type: "json" };
import type { BenchServer } from "./support.ts";

const children: ChildProcess[] = [];

/** Starts a child process; resolves when it is ready, with the port it reports and its process id. */
export async function startChild(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  execArgv: readonly string[] = [],
): Promise<{ port: number; pid: number; child: ChildProcess }> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    env: { PATH: process.env.PATH, ...env },
    execArgv: [...execArgv],
  });
  children.push(child);
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (message: { port?: number }) => resolve(message.port ?? 0));
    child.once("exit", (code) => reject(new Error(`${file} ended with ${code}`)));
  });
  return { port, pid: child.pid ?? 0, child };
}

export async function endChildren(): Promise<void> {
  const ended = children.splice(0).map((child) => {
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    return child.exitCode === null && child.signalCode === null ? exited : undefined;
  });
  await Promise.all(ended);
}

/** Starts one API process as `npm run start:api` does. */
export async function startApi(server: BenchServer, variables: NodeJS.ProcessEnv): Promise<{ port: number; pid: number }> {
  const port = await freePort();
  const environment = testEnvironment(server, { PORT: String(port), LOG_LEVEL: "error", ...variables });
  const nodeOptions = manifest.scripts["start:api"].split(" ").filter((word) => word.startsWith("--"));
  const { pid } = await startChild("../../server/main.ts", [], environment, nodeOptions);
  return { port, pid };
}

/** Creates `people` subscribers with credits and returns their access tokens. */
export async function createTokens(server: BenchServer, people: number): Promise<string[]> {
  const app: App = Fastify().withTypeProvider<TypeBoxTypeProvider>();
  await registerTokens(app, { config: readConfig(testEnvironment(server)) });
  await app.ready();
  const persons = await Promise.all(
    Array.from({ length: people }, () => createPerson({ app }, server.db, { plan: "enterprise", credits: 1_000_000 })),
  );
  await app.close();
  return persons.map((person) => person.token);
}
