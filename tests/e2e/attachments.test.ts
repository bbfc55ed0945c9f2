/** Files of a question in Chromium: chosen, dropped and pasted; what the model reads of each; without a connection they wait. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makePdf } from "#tests/support/make-pdf.ts";
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
});
