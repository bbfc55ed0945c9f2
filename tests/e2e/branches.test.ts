/** Versions of a prompt and of an answer in Chromium: edit, ask again, walk, reload, offline. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { full } from "#tests/support/full.ts";
import type { Stage } from "./support.ts";
import { ask, order, pageOf, setStage } from "./support.ts";

const articles = (page: Page) => page.locator("article");
const questions = (page: Page) => page.locator("article p[class*=prompt]").allTextContents();

async function finished(page: Page, left: number): Promise<void> {
  await page.getByText(`charged, ${left} left`).first().waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
}

describe("versions in Chromium", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
    await order(stage, "/models/pace", { paceMs: 2 });
  }, 150_000);
  afterEach(() => stage?.devices.takeBack());
  afterAll(() => stage?.close());

  it("an edited prompt keeps the first one; one walks between them, and the version chosen stands after a reload", async () => {
    const visitor = await stage.person(true);
    const page = await pageOf(stage, visitor);
    await ask(page, stage, "Which stones last longest");
    await finished(page, 299);

    await page.getByRole("button", { name: "Edit prompt" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit prompt" });
    expect(await dialog.getByLabel("Your prompt").inputValue()).toBe("Which stones last longest");
    await dialog.getByLabel("Your prompt").fill("Which stones are softest");
    await dialog.getByText("This answer costs 1 credit").waitFor();
    await dialog.getByRole("button", { name: "Send for 1 credit" }).click();
    await finished(page, 298);
    expect(await questions(page)).toEqual(["Which stones are softest"]);
    expect(await articles(page).count()).toBe(2);

    await page.getByRole("button", { name: "Ask again", exact: true }).click();
    const again = page.getByRole("dialog", { name: "Ask again" });
    await again.getByLabel("Model").selectOption("gpt-6.1-sol");
    await again.getByText("This answer costs 5 credits").waitFor();
    await again.getByRole("button", { name: "Ask again for 5 credits" }).click();
    await finished(page, 293);
    await articles(page).last().getByText("Version 2 of 2").waitFor();
    expect(await articles(page).last().textContent()).toContain("GPT-6.1 Sol");

    const steps = articles(page).first();
    await steps.getByText("Version 2 of 2").waitFor();
    const previous = steps.getByRole("button", { name: "Previous version" });
    await previous.focus();
    await page.keyboard.press("Enter");
    await steps.getByText("Version 1 of 2").waitFor();
    expect(await questions(page)).toEqual(["Which stones last longest"]);
    expect(await page.locator("button:focus").getAttribute("aria-label")).toBe("Previous version");

    await expect
      .poll(
        async () => (await visitor.json<{ headId: string; messages: { id: string }[] }>("GET", `/api/conversations/${idIn(page)}`)).headId,
      )
      .toBe((await visitor.json<{ messages: { id: string }[] }>("GET", `/api/conversations/${idIn(page)}`)).messages[1]?.id);
    await page.reload();
    await articles(page).first().getByText("Version 1 of 2").waitFor();
    expect(await questions(page)).toEqual(["Which stones last longest"]);

    await page.context().setOffline(true);
    await articles(page).first().getByRole("button", { name: "Next version" }).click();
    await articles(page).first().getByText("Version 2 of 2").waitFor();
    expect(await questions(page)).toEqual(["Which stones are softest"]);
    await articles(page).last().getByRole("button", { name: "Previous version" }).click();
    await articles(page).last().getByText("Version 1 of 2").waitFor();
    expect(await page.getByRole("button", { name: "Edit prompt" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "Ask again", exact: true }).count()).toBe(0);
    await page.context().setOffline(false);
  });

  it.runIf(full)("an edit that is refused is not lost: the dialog opens with it again", async () => {
    const visitor = await stage.person(true);
    const page = await pageOf(stage, visitor);
    await ask(page, stage, "A first prompt");
    await finished(page, 299);
    await page.route("**/api/generations", (route) =>
      route.fulfill({ status: 409, json: { code: "price_changed", error: "The price is now 2 credits", quotedCredits: 2 } }),
    );
    await page.getByRole("button", { name: "Edit prompt" }).click();
    await page.getByRole("dialog").getByLabel("Your prompt").fill("A much better prompt");
    await page.getByRole("button", { name: "Send for 1 credit" }).click();
    await page.getByText("The price has changed").waitFor();
    expect(await questions(page)).toEqual(["A first prompt"]);
    await page.getByRole("button", { name: "Edit prompt" }).click();
    expect(await page.getByRole("dialog").getByLabel("Your prompt").inputValue()).toBe("A much better prompt");
  });
});

function idIn(page: Page): string {
  return new URL(page.url()).searchParams.get("conversation") ?? "";
}
