/** Files of a question in Chromium: chosen, dropped and pasted; what the model reads of each; without a connection they wait. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makePdf } from "#tests/support/make-pdf.ts";
import { keep, kept } from "./device-database.ts";
import type { Stage } from "./support.ts";
import { order, pageOf, setStage } from "./support.ts";

const chips = (page: Page) => page.getByRole("list", { name: "Attached files" });
const send = (page: Page) => page.getByRole("button", { name: "Send", exact: true });

/** Files arrive at the page as from another program: dropped anywhere, or pasted. */
async function arrive(page: Page, by: "drop" | "paste", name: string, text: string): Promise<void> {
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}, { type: "text/plain" }));
    const shared = { bubbles: true, cancelable: true };
    const dropped = new DragEvent("drop", { ...shared, dataTransfer });
    const pasted = new ClipboardEvent("paste", { ...shared, clipboardData: dataTransfer });
    document.body.dispatchEvent(${by === "drop" ? "dropped" : "pasted"});
  }`);
}

/** The names of all files that count against the person's room. */
async function takingRoom(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`fetch("/api/files/room", {
    headers: { authorization: "Bearer " + JSON.parse(localStorage.getItem("session")).access_token },
  }).then(async (answer) => (await answer.json()).files.map(({ name }) => name).sort())`);
}

async function chatOf(stage: Stage): Promise<Page> {
  const page = await pageOf(stage, await stage.person(true));
  await page.goto(`${stage.url}/ai-models`);
  return page;
}

describe("files of a question in Chromium", () => {
  let stage: Stage;
  let folder: string;
  const file = (name: string) => path.join(folder, name);
  beforeAll(async () => {
    stage = await setStage();
    await order(stage, "/models/pace", { paceMs: 2 });
    folder = await mkdtemp(path.join(tmpdir(), "tessera-attached-"));
    const picture = sharp({ create: { width: 400, height: 300, channels: 3, background: "teal" } }).jpeg();
    await writeFile(file("photo.jpg"), await picture.toBuffer());
    await writeFile(file("sketch.jpg"), await picture.toBuffer());
    await writeFile(file("report.pdf"), makePdf(["A page about mosaics", "A page about their makers"]));
    await writeFile(file("archive.zip"), "PK\x03\x04");
  }, 150_000);
  afterEach(() => stage?.devices.takeBack());
  afterAll(async () => {
    await stage?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("say what the model reads of them, go with the question, stay with it, and cost nothing", async () => {
    const page = await chatOf(stage);
    await page.locator("input[name=attachments]").setInputFiles(["photo.jpg", "report.pdf", "archive.zip"].map(file));
    const item = (name: string) => chips(page).getByRole("listitem").filter({ hasText: name });
    await item("photo.jpg").getByText("Sees the picture").waitFor();
    await item("report.pdf").getByText("Sees all 2 pages").waitFor();
    await item("archive.zip").getByText("We can't read this kind of file").waitFor();
    await page.getByText("Files add nothing to the price.").waitFor();
    await page.getByLabel("Your prompt").fill("What is on it?");
    expect(await send(page).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Remove archive.zip" }).click();
    await arrive(page, "drop", "dropped.txt", "dropped words");
    await item("dropped.txt").getByText("Reads all of it").waitFor();
    await arrive(page, "paste", "pasted.txt", "pasted words");
    await item("pasted.txt").getByText("Reads all of it").waitFor();

    await page.reload();
    await item("pasted.txt").getByText("Reads all of it").waitFor();
    expect(await page.getByLabel("Your prompt").inputValue()).toBe("What is on it?");
    await send(page).click();
    await page.getByText("charged, 299 left").first().waitFor();
    await page.getByText("With your question came a picture of 400 × 300 pixels, a PDF of 2 pages").waitFor();

    await page.reload();
    const question = page.locator("article").first();
    await question.getByText("Sees the picture").waitFor();
    const thumbnail = question.locator("img");
    await expect.poll(() => page.evaluate("document.querySelector('article img')?.naturalWidth")).toBe(400);
    expect(await thumbnail.getAttribute("src")).toMatch(/^\/api\/files\/[\da-f-]{36}\//);
  });

  it("that the model can't read block the send, and another model is offered with its price", async () => {
    const page = await chatOf(stage);
    await page.getByRole("button", { name: /^Change model/ }).click();
    await page.getByRole("dialog").getByText("DeepSeek Flash").click();
    await page.locator("input[name=attachments]").setInputFiles(file("photo.jpg"));
    await page.getByText("DeepSeek Flash can't read “photo.jpg”.").waitFor();
    await page.getByLabel("Your prompt").fill("What is on it?");
    expect(await send(page).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Use GPT-6 Luna, 1 credit" }).click();
    await chips(page).getByText("Sees the picture").waitFor();
    await expect.poll(() => send(page).isDisabled()).toBe(false);
  });

  it("wait without a connection, and are uploaded once it is back", async () => {
    const page = await chatOf(stage);
    await page.locator("input[name=attachments]").waitFor({ state: "attached" });
    await page.context().setOffline(true);
    await page.locator("input[name=attachments]").setInputFiles(file("photo.jpg"));
    await chips(page).getByText("You're offline. It is uploaded once you are connected.").waitFor();
    await page.context().setOffline(false);
    await chips(page).getByText("Sees the picture").waitFor();
  });

  it("and pictures to begin from take no room once they are put away, unless another draft has them", async () => {
    const page = await chatOf(stage);
    const remove = (name: string) => page.getByRole("button", { name, exact: true }).first();
    await page.locator("input[name=attachments]").setInputFiles([file("photo.jpg"), file("report.pdf")]);
    await expect.poll(() => takingRoom(page)).toEqual(["photo.jpg", "report.pdf"]);
    await chips(page).getByText("Sees all 2 pages").waitFor();
    const owner = await page.evaluate<string>("JSON.parse(localStorage.getItem('session')).user.id");
    const draft = await kept(page, `draft:${owner}:new`);
    await keep(page, `draft:${owner}:0198a3a4-7c5e-7c3f-8a4e-0c5a6f1d2e3b`, {
      ...(draft as { files: { name: string }[] }),
      files: (draft as { files: { name: string }[] }).files.filter(({ name }) => name === "report.pdf"),
    });
    await remove("Remove report.pdf").click();
    await remove("Remove photo.jpg").click();
    await expect.poll(() => takingRoom(page)).toEqual(["report.pdf"]);
    // Without a connection it stays on the server, and goes by itself a week later.
    await page.locator("input[name=attachments]").setInputFiles(file("photo.jpg"));
    await chips(page).getByText("Sees the picture").waitFor();
    await page.context().setOffline(true);
    const lost = page.waitForEvent("requestfailed", (request) => request.method() === "DELETE");
    await remove("Remove photo.jpg").click();
    await expect.poll(() => chips(page).count()).toBe(0);
    await lost;
    await page.context().setOffline(false);
    expect(await takingRoom(page)).toEqual(["photo.jpg", "report.pdf"]);

    await page.goto(`${stage.url}/ai-models?model=gpt-image-2.6-flare`);
    await page.locator("input[name=references]").setInputFiles([file("photo.jpg"), file("sketch.jpg")]);
    await expect.poll(async () => (await takingRoom(page)).length).toBe(4);
    await remove("Remove this picture").click();
    await expect.poll(async () => (await takingRoom(page)).length).toBe(3);
    await remove("Remove this picture").click();
    await expect.poll(async () => (await takingRoom(page)).length).toBe(2);
  });
});
