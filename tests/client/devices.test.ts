/** A page that goes from one browser test to the next tells the next one nothing. */
import { expect, it } from "vitest";
import type { Site } from "./frame-support.ts";
import { onSite } from "./frame-support.ts";

let site: Site;
onSite((opened) => {
  site = opened;
});

/** Everything that a site can keep on a device, and what it says about the visit. */
const kept = `(async () => ({
  local: { ...localStorage },
  session: { ...sessionStorage },
  cookies: document.cookie,
  databases: await indexedDB.databases(),
  caches: await caches.keys(),
  before: history.length,
  online: navigator.onLine,
  width: innerWidth,
}))()`;

it("a page that is lent again is the same one, and has nothing of the test before", async () => {
  const address = `${site.address}/robots.txt`;
  const page = await site.devices.lend({ session: "of somebody" });
  await page.goto(address);
  await page.goto(`${site.address}/sitemap.xml`);
  await page.goto(address);
  await page.evaluate(`(async () => {
    localStorage.setItem("theme", "dark");
    sessionStorage.setItem("seen", "yes");
    document.cookie = "seen=yes";
    await new Promise((done) => { indexedDB.open("keyval-store").onsuccess = done; });
    await caches.open("pages");
  })()`);
  await page.context().newPage();
  await page.route("**/*", (route) => route.abort());
  await page.setViewportSize({ width: 390, height: 844 });
  await page.context().setOffline(true);
  expect(await page.evaluate(kept)).toMatchObject({
    local: { session: "of somebody", theme: "dark" },
    session: { seen: "yes" },
    cookies: "seen=yes",
    databases: [{ name: "keyval-store" }],
    caches: ["pages"],
    online: false,
    width: 390,
  });
  await site.devices.takeBack();

  const again = await site.devices.lend();
  expect(again).toBe(page);
  expect(again.context().pages()).toEqual([again]);
  await again.goto(address);
  const nothing = { local: {}, session: {}, cookies: "", databases: [], caches: [], before: 1, online: true, width: 1_280 };
  expect(await again.evaluate(kept)).toEqual(nothing);
});

it("a page with other options, and one that must be new, are not lent again", async () => {
  const page = await site.devices.lend();
  await site.devices.takeBack();
  expect(await site.devices.lend({ locale: "de-DE" })).not.toBe(page);
  const fresh = await site.devices.lend({ fresh: true });
  await site.devices.takeBack();
  expect(fresh.isClosed()).toBe(true);
});
