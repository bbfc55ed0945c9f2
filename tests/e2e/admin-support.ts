/** What the tests of the admin panel in a browser share. */
import type { Page } from "playwright-core";
import type { Role } from "#domain/team.ts";
import { full } from "#tests/support/full.ts";
import type { Visitor } from "#tests/support/visitor.ts";
import type { Stage } from "./support.ts";

export const viewports = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
export type Device = keyof typeof viewports;
/** Each act once a day, in `test:full` on both devices. */
export const on = (usual: Device): Device[] => (full ? ["desktop", "phone"] : [usual]);

export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Somebody of the team. */
export async function clerk(stage: Stage, role: Role = "admin"): Promise<Visitor> {
  const visitor = await stage.person(false);
  await stage.db
    .updateTable("users")
    .set({ role })
    .where("id", "=", visitor.session?.user.id ?? "")
    .execute();
  return visitor;
}

/** On a phone a button opens the list of sections. */
export async function openSection(page: Page, name: string): Promise<void> {
  const sections = page.getByRole("navigation", { name: "Sections of the panel" });
  await sections.waitFor();
  const opener = sections.getByRole("button");
  if (await opener.isVisible()) await opener.click();
  await sections.getByRole("link", { name }).click();
}

/** Gives the reason in the open dialog, and does it. */
export async function confirm(page: Page, name: string, reason = "They wrote to us"): Promise<void> {
  const dialog = page.getByRole("dialog", { name });
  await dialog.getByLabel("Reason").fill(reason);
  await dialog.locator('button[type="submit"]').click();
  await dialog.waitFor({ state: "detached" });
}
