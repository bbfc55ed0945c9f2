import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import nodemailer from "nodemailer";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningSandbox } from "#tests/support/sandbox.ts";
import { startSandbox } from "#tests/support/sandbox.ts";

let folder: string;
let sandbox: RunningSandbox;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tessera-sandbox-mail-"));
  sandbox = await startSandbox({ SANDBOX_STRIPE: "off", DATA_DIR: folder });
});

afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
});

function transport() {
  return nodemailer.createTransport(`smtp://127.0.0.1:${sandbox.smtpPort}`);
}

interface Listed {
  to: string;
  subject: string;
  text: string;
  html: string;
  links: string[];
}

async function mailsOf(to: string): Promise<Listed[]> {
  const response = await fetch(`${sandbox.url}/mail?to=${encodeURIComponent(to)}`);
  return (await response.json()) as Listed[];
}

test("a mail sent over SMTP can be read with its links, newest first, with the address in any letter case", async () => {
  await transport().sendMail({
    from: "no-reply@tessera.example",
    to: "Ada@Example.com",
    subject: "First",
    text: "See https://tessera.example/a?x=1&y=2.",
  });
  await transport().sendMail({
    from: "no-reply@tessera.example",
    to: "ada@example.com",
    subject: "Grüße, 日本",
    text: "Open http://127.0.0.1:3000/auth/confirm?token=abc_-1\n(or https://tessera.example/help)",
    html: '<p>Hello <a href="http://127.0.0.1:3000/auth/confirm?token=abc_-1&amp;lng=de">confirm</a> <a href="mailto:x@y.z">mail</a> <a href="javascript:alert(1)">no</a></p>',
  });
  const mails = await mailsOf("ADA@example.com");
  expect(mails.map((mail) => mail.subject)).toEqual(["Grüße, 日本", "First"]);
  expect(mails[0]).toMatchObject({
    to: "ada@example.com",
    text: expect.stringContaining("Open http"),
    html: expect.stringContaining("<p>Hello"),
  });
  expect(mails[0]?.links).toEqual([
    "http://127.0.0.1:3000/auth/confirm?token=abc_-1&lng=de",
    "http://127.0.0.1:3000/auth/confirm?token=abc_-1",
    "https://tessera.example/help",
  ]);
  expect(mails[1]?.links).toEqual(["https://tessera.example/a?x=1&y=2"]);
  expect(await mailsOf("nobody@example.com")).toEqual([]);
});

test("a mail delivered twice with one Message-ID is stored once", async () => {
  const mail = { from: "a@b.example", to: "twice@example.com", subject: "Once", text: "x", messageId: "<one@tessera.example>" };
  await transport().sendMail(mail);
  await transport().sendMail(mail);
  expect(await mailsOf("twice@example.com")).toHaveLength(1);
});

test("a mail over the size limit is refused and not stored", async () => {
  const mail = { from: "a@b.example", to: "large@example.com", subject: "Large", text: "x".repeat(80).concat("\n").repeat(40_000) };
  await expect(transport().sendMail(mail)).rejects.toThrow();
  expect(await mailsOf("large@example.com")).toEqual([]);
});

test("mails survive a restart", async () => {
  await transport().sendMail({ from: "a@b.example", to: "kept@example.com", subject: "Kept", text: "x" });
  await sandbox.close();
  sandbox = await startSandbox({ SANDBOX_STRIPE: "off", DATA_DIR: folder });
  expect(await mailsOf("kept@example.com")).toMatchObject([{ subject: "Kept" }]);
});
