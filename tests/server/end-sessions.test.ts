/** `npm run sessions`: an operator signs a person out everywhere, or everybody. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import { compileCache } from "#tests/support/sources.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

const run = promisify(execFile);
let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());

function command(...parameters: string[]) {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, DATABASE_URL: product.config.databaseUrl };
  return run(process.execPath, ["server/commands/sessions.ts", ...parameters], { env }).then(
    ({ stdout }) => ({ code: 0, output: stdout.trim() }),
    (error: { code: number; stderr: string }) => ({ code: error.code, output: error.stderr.trim() }),
  );
}

const read = async ({ access_token }: Session) => (await product.get("/api/account", access_token)).statusCode;
const refresh = async ({ refresh_token }: Session) => (await product.post("/api/auth/refresh", { refresh_token })).statusCode;

/** What the person is shown of it. */
async function acts({ access_token }: Session): Promise<unknown[]> {
  const { events } = (await product.get("/api/account/activity", access_token)).json<{ events: { action: string; details: unknown }[] }>();
  return events.filter(({ action }) => action === "session.ended").map(({ details }) => details);
}

test("all sign-ins of one person end at once, nobody else's do, and the person sees that the team did it", async () => {
  const first = await product.join("ada@example.com");
  const second = (await product.signIn("ada@example.com")).json<Session>();
  const other = await product.join("bob@example.com");
  expect(await command("--end", " Ada@Example.com ")).toEqual({ code: 0, output: "2 sign-ins are ended" });
  expect(await Promise.all([first, second, other].map(read))).toEqual([401, 401, 200]);
  expect(await Promise.all([first, second, other].map(refresh))).toEqual([401, 401, 200]);
  expect(await command("--end", "ada@example.com")).toEqual({ code: 0, output: "0 sign-ins are ended" });
  const again = (await product.signIn("ada@example.com")).json<Session>();
  expect(await acts(again)).toEqual([{ reason: "by_operator", sessions: 2 }]);
});

test("all sign-ins of everybody end at once, and signing in is possible after it", async () => {
  const sessions = [await product.join("cleo@example.com"), await product.join("dan@example.com")];
  expect((await command("--end-all")).output).toMatch(/^\d+ sign-ins are ended$/);
  expect(await Promise.all(sessions.map(read))).toEqual([401, 401]);
  expect(await Promise.all(sessions.map(refresh))).toEqual([401, 401]);
  expect((await product.signIn("cleo@example.com")).statusCode).toBe(200);
});

test("an address that nobody has, and a command that says neither or both, end nothing", async () => {
  const session = await product.join("eve@example.com");
  expect(await command("--end", "nobody@example.com")).toEqual({ code: 1, output: "nobody has the address nobody@example.com" });
  const unclear = { code: 1, output: "give one of --end <address> and --end-all" };
  expect(await command()).toEqual(unclear);
  expect(await command("--end", "eve@example.com", "--end-all")).toEqual(unclear);
  expect(await read(session)).toBe(200);
});
