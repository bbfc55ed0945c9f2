/** The team's inbox in a browser: support answers on a phone what an admin at a desktop has taken meanwhile; and the consent to read. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { dayMs } from "#domain/clock.ts";
import { full } from "#tests/support/full.ts";
import type { Device } from "./admin-support.ts";
import { button, clerk, on, openSection, viewports } from "./admin-support.ts";
import type { Stage } from "./support.ts";
import { pageOf, setStage } from "./support.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterEach(() => stage?.devices.takeBack());
afterAll(() => stage?.close());

/** Somebody who is not signed in writes in German, two days ago. */
async function write(email: string, subject: string): Promise<void> {
  const letter = {
    name: "Grace",
    email,
    category: "support",
    subject,
    message: "Ich habe bezahlt.\nNichts ist gekommen.",
    language: "de",
  };
  const headers = { "content-type": "application/json", "idempotency-key": randomUUID() };
  const { status } = await fetch(`${stage.url}/api/contact`, { method: "POST", headers, body: JSON.stringify(letter) });
  expect(status).toBe(202);
  const at = new Date(Date.now() - 2 * dayMs);
  await stage.db.updateTable("contact_messages").set({ created_at: at }).where("subject", "=", subject).execute();
}

const devices: [Device, Device][] = full
  ? [
      ["phone", "desktop"],
      ["desktop", "phone"],
    ]
  : [["phone", "desktop"]];
it.each(devices)(
  "on a %s what was written is answered by mail, on a %s it leads there from what needs the team; of two who act at once the second is told and keeps the text; lists are kept under a name",
  async (ofSupport, ofAdmin) => {
    const [support, admin] = [await clerk(stage, "support"), await clerk(stage)];
    const email = `grace-${randomUUID()}@example.com`;
    const [subject, later] = [`Bezahlt ${randomUUID().slice(0, 8)}`, `Danke ${randomUUID().slice(0, 8)}`];
    await write(email, later);
    await write(email, subject);

    const phone = await pageOf(stage, support, { viewport: viewports[ofSupport] });
    await phone.goto(`${stage.url}/admin`);
    await phone.getByRole("searchbox", { name: "Sender’s address" }).fill(email.toUpperCase());
    await phone.keyboard.press("Enter");
    await phone.getByRole("combobox", { name: "Status" }).selectOption("open");
    expect(new URL(phone.url()).search).toContain("status=open");
    await phone.getByRole("link", { name: subject }).click();
    await phone.getByText("Nichts ist gekommen.").waitFor();
    await phone.getByText("No account has this address").waitFor();
    await phone.getByRole("link", { name: "Next", exact: true }).click();
    await phone.getByRole("heading", { name: later, level: 1 }).waitFor();
    await phone.getByRole("link", { name: "Previous", exact: true }).click();
    await phone.getByRole("heading", { name: subject, level: 1 }).waitFor();
    await phone.getByRole("combobox", { name: "Begin with" }).selectOption("payment");
    const text = phone.getByRole("textbox", { name: "Text" });
    expect(await text.inputValue()).toMatch(/^Hallo Grace,/);
    await text.fill(`${await text.inputValue()}\n\nBis bald`);
    expect(await phone.evaluate<number>("document.documentElement.scrollWidth")).toBe(viewports[ofSupport].width);

    const desk = await pageOf(stage, admin, { viewport: viewports[ofAdmin] });
    await desk.goto(`${stage.url}/admin/needs`);
    await desk.getByRole("listitem").filter({ hasText: subject }).getByRole("link", { name: "Answer" }).click();
    await button(desk, "Take it").click();
    await desk.getByText(`${admin.email} took it`).waitFor();

    await button(phone, "Send answer").click();
    await phone.getByText("What you wrote is still here").waitFor();
    await phone.getByText(`${admin.email} took it`).waitFor();
    expect(await text.inputValue()).toContain("Bis bald");
    await button(phone, "Send answer").click();
    await phone.getByText(`${support.email} answered`).waitFor();
    await phone.getByText("Sent", { exact: true }).waitFor();
    expect(await text.inputValue()).toBe("");
    // The next message is that of the list from which this one was opened. A phone has buttons, a desktop also keys.
    await phone.getByText(`Next in the list: ${later}`).waitFor();
    await button(phone, "Open it").click();
    await phone.getByRole("heading", { name: later, level: 1 }).waitFor();
    const mails = stage.db
      .selectFrom("mails")
      .select(["language", "parameters"])
      .where("recipient", "=", email)
      .where("template", "=", "contact-answer");
    expect(await mails.execute()).toMatchObject([{ language: "de", parameters: { message: expect.stringContaining("Bis bald") } }]);

    const first = desk.url();
    const spam = `Werbung ${randomUUID().slice(0, 8)}`;
    await write(email, spam);
    await desk.goto(`${stage.url}/admin/inbox?sender=${encodeURIComponent(email)}&status=open`);
    await desk.getByRole("link", { name: spam }).click();
    await desk.getByRole("combobox", { name: "Status", exact: true }).selectOption("done");
    const closing = desk.getByRole("dialog", { name: "Close without an answer" });
    await closing.getByRole("button", { name: "Spam or advertising" }).click();
    await closing.locator('button[type="submit"]').click();
    await desk.getByText("set the status: Done").waitFor();
    await desk.getByRole("list", { name: "Message and history" }).getByText("· Spam or advertising").waitFor();
    await desk.goto(first);
    await desk.getByText("Bis bald").waitFor();
    await desk.getByRole("combobox", { name: "Status", exact: true }).selectOption("done");
    await desk.getByText(`${admin.email} set the status: Done`).waitFor();
    await desk.getByText(/^(Next in the list:|That was the last one)/).waitFor();
    const heading = desk.getByRole("heading", { level: 1 });
    await heading.click();
    // A message opened from what needs the team is followed by the oldest open one.
    await desk.keyboard.press("k");
    await expect.poll(() => heading.textContent()).toContain(later);

    // A view of a list is saved under a name for this team member. The address still decides what is shown.
    await openSection(desk, "Inbox");
    await desk.getByRole("combobox", { name: "Status" }).selectOption("done");
    await button(desk, "Save this view").click();
    const dialog = desk.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Finished");
    await button(desk, "Save").click();
    const views = desk.getByRole("navigation", { name: "Saved views" });
    await views.getByRole("link", { name: "Finished" }).and(desk.locator('[aria-current="page"]')).waitFor();
    await desk.goto(`${stage.url}/admin/inbox`);
    await views.getByRole("link", { name: "Finished" }).click();
    await expect.poll(() => new URL(desk.url()).search).toBe("?status=done");
    await button(desk, "Change this view").click();
    await dialog.getByLabel("Name").fill("Answered");
    await button(desk, "Save").click();
    await views.getByRole("link", { name: "Answered" }).waitFor();
    await phone.goto(`${stage.url}/admin/inbox?status=done`);
    await button(phone, "Save this view").waitFor();
    expect(await phone.getByRole("link", { name: "Answered" }).count()).toBe(0);
    await button(desk, "Change this view").click();
    await button(desk, "Delete this view").click();
    await views.waitFor({ state: "detached" });
  },
  120_000,
);

it.each(on("phone"))(
  "on a %s the team asks a person for their consent; while they give it an answer is read, and they see that",
  async (device) => {
    const [support, person] = [await clerk(stage, "support"), await stage.person(false)];
    await person.json("POST", "/api/billing/trial", {});
    await person.ask({ prompt: "What is a mosaic made of?" });

    const panel = await pageOf(stage, support, { viewport: viewports[device] });
    await panel.goto(`${stage.url}/admin/people/${person.session?.user.id}/answers`);
    await button(panel, "Ask for permission").click();
    const asking = panel.getByRole("dialog", { name: "Ask for permission" });
    await asking.getByLabel("Reason").fill("They wrote that it was cut off");
    await asking.locator('button[type="submit"]').click();
    await panel.getByText("The person has not answered yet").waitFor();

    const desk = await pageOf(stage, person);
    await desk.goto(`${stage.url}/profile`);
    await desk.getByRole("link", { name: "Decide" }).click();
    await desk.getByText("Our team asks to read").waitFor();
    await desk.getByRole("radio", { name: "7 days" }).check();
    await button(desk, "Let the team read").click();
    await desk.getByText("The team can read your conversations until").waitFor();

    await panel.reload();
    await button(panel, "Read").click();
    const dialog = panel.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("They wrote that it was cut off");
    await dialog.locator('button[type="submit"]').click();
    await dialog.getByRole("listitem").filter({ hasText: "What is a mosaic made of?" }).first().waitFor();
    await dialog.getByText("They see each reading").waitFor();
    expect(await panel.evaluate<number>("document.documentElement.scrollWidth")).toBe(viewports[device].width);

    await button(desk, "Take it back").click();
    await button(desk, "Let the team read").waitFor();
    await desk.getByRole("link", { name: "recent activity" }).click();
    await desk.getByText("Our team read an answer, as you allowed").waitFor();
    await button(panel, "Close").click();
    await button(panel, "Read").click();
    await dialog.getByLabel("Reason").fill("Once more, to be sure");
    await dialog.locator('button[type="submit"]').click();
    await dialog.getByText("does not let the team read").waitFor();
  },
  90_000,
);
