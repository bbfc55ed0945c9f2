/** Passkeys in a real browser, with its virtual authenticators in place of a finger and a screen lock. */
import { Secret, TOTP } from "otpauth";
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { TotpSetUp } from "#contract/auth/factors.ts";
import { launchBrowser, wholeBrowserOptions } from "#tests/support/browser.ts";
import { full } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import type { Visitor } from "#tests/support/visitor.ts";
import type { Stage } from "./support.ts";
import { setStage } from "./support.ts";

const isToday = hasTurn("waysIn", "passkeys");

let stage: Stage;
/** The name that browsers make passkeys for: a number is none. */
let url: string;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let devices: CDPSession;
let visitor: Visitor;

beforeAll(async () => {
  stage = await setStage();
  url = stage.url.replace("127.0.0.1", "localhost");
  // The shell without windows offers no passkeys in a field's suggestions.
  browser = await launchBrowser(wholeBrowserOptions());
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await stage?.close();
});
beforeEach(async () => {
  visitor = await stage.person(false);
  context = await browser.newContext({ serviceWorkers: "block", locale: "en-GB" });
  page = await context.newPage();
  devices = await context.newCDPSession(page);
  await devices.send("WebAuthn.enable", { enableUI: false });
});
afterEach(() => context.close());

/** A device whose owner is there, and unlocks it when asked. */
async function addDevice(transport: "internal" | "usb"): Promise<string> {
  const owner = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  const { authenticatorId } = await devices.send("WebAuthn.addVirtualAuthenticator", {
    options: { protocol: "ctap2", transport, ...owner },
  });
  return authenticatorId;
}
const answersAtOnce = (authenticatorId: string, enabled: boolean) =>
  devices.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });

const signedIn = () => page.evaluate<string | undefined>("JSON.parse(localStorage.getItem('session') ?? '{}').user?.email");
const arrived = () => page.waitForURL(`${url}/profile/security`);
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: typeof name === "string" });

async function signInByPassword(): Promise<void> {
  await page.goto(`${url}/auth?return=/profile/security`);
  await page.getByLabel("Email", { exact: true }).fill(visitor.email);
  await page.getByLabel("Password", { exact: true }).fill(visitor.password);
  await button("Sign in").click();
  await arrived();
}
async function signOut(): Promise<void> {
  await page.evaluate("localStorage.removeItem('session')");
  await page.goto(`${url}/about`);
}
const listed = (name: string) => page.getByRole("region", { name: "Passkeys" }).getByRole("listitem").filter({ hasText: name });
async function addPasskey(suggestion: RegExp, name: string): Promise<void> {
  await button("Add a passkey").click();
  const dialog = page.getByRole("dialog", { name: "Name this passkey" });
  expect(await dialog.getByLabel("Name").inputValue()).toMatch(suggestion);
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: "Save" }).click();
  await listed(name).waitFor();
}
async function turnOnCodes(): Promise<void> {
  const begun = (await (await visitor.call("POST", "/api/account/factors/totp")).json()) as TotpSetUp;
  const code = new TOTP({ secret: Secret.fromBase32(begun.secret) }).generate();
  expect((await visitor.call("POST", "/api/account/factors/totp/confirm", { setUp: begun.setUp, code })).status).toBe(200);
}

it.runIf(isToday)("a passkey is made on the security page, and signs in from the email field's suggestions, without a code", async () => {
  const device = await addDevice("internal");
  await signInByPassword();
  await addPasskey(/^Chrome on Linux$/, "Work laptop");
  const { credentials } = await devices.send("WebAuthn.getCredentials", { authenticatorId: device });
  expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: "localhost" }]);
  await turnOnCodes();

  await signOut();
  await page.goto(`${url}/auth?return=/profile/security`);
  await arrived();
  expect(await signedIn()).toBe(visitor.email);
  await page.getByText("Signed in (passkey)").waitFor();
});

it.runIf(full)("the suggestions get in nobody's way: the form is typed into meanwhile, and the button still works", async () => {
  const device = await addDevice("internal");
  await signInByPassword();
  await addPasskey(/Chrome/, "Work laptop");
  await signOut();
  await answersAtOnce(device, false);

  const asked = page.waitForRequest("**/api/auth/passkey/options");
  await page.goto(`${url}/auth?return=/profile/security`);
  await asked;
  await page.getByLabel("Email", { exact: true }).fill("half@");
  expect(await page.getByLabel("Email", { exact: true }).inputValue()).toBe("half@");
  await answersAtOnce(device, true);
  await Promise.all([page.waitForRequest("**/api/auth/passkey/options"), button("Sign in with a passkey").click()]);
  await arrived();
  expect(await signedIn()).toBe(visitor.email);
});

it.runIf(isToday)(
  "a second device gets a passkey of its own; a removed one signs in no more, and the person is told what to do",
  async () => {
    const laptop = await addDevice("internal");
    await signInByPassword();
    await addPasskey(/Chrome/, "Work laptop");

    // The laptop has one already, and says so.
    await button("Add a passkey").click();
    await page.getByText("There is a passkey for your account on this device already.").waitFor();

    const key = await addDevice("usb");
    await addPasskey(/^Security key$/, "Key ring");
    const { credentials } = await devices.send("WebAuthn.getCredentials", { authenticatorId: laptop });
    await button("Remove Work laptop").click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("Removed: Work laptop").waitFor();
    expect(await listed("Work laptop").count()).toBe(0);

    await signOut();
    await devices.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId: key });
    // A browser that was told forgets the passkey by itself. This one still has it.
    const kept = await devices.send("WebAuthn.getCredentials", { authenticatorId: laptop });
    for (const credential of kept.credentials.length === 0 ? credentials : [])
      await devices.send("WebAuthn.addCredential", { authenticatorId: laptop, credential });
    await page.goto(`${url}/auth`);
    await page.getByText("This passkey does not sign in here, or no longer does. Choose another way.").waitFor();
    expect(await signedIn()).toBeUndefined();
  },
);

it.runIf(full)("an old sign-in is confirmed by the passkey, and what the person was about to do goes on", async () => {
  const device = await addDevice("internal");
  await signInByPassword();
  await addPasskey(/Chrome/, "Work laptop");
  await stage.db
    .updateTable("auth_sessions")
    .set({ proved_at: new Date(0) })
    .where("user_id", "=", visitor.session?.user.id ?? "")
    .execute();
  const dialog = page.getByRole("dialog", { name: "Confirm that it is you" });

  // Somebody else at this screen can't unlock the device.
  await devices.send("WebAuthn.setUserVerified", { authenticatorId: device, isUserVerified: false });
  await button("Set it up").click();
  await dialog.getByRole("button", { name: "Use a passkey" }).click();
  await dialog.getByRole("alert").waitFor();
  await devices.send("WebAuthn.setUserVerified", { authenticatorId: device, isUserVerified: true });
  await dialog.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByRole("heading", { name: "Connect your authenticator app" }).waitFor();
  expect(await dialog.count()).toBe(0);
  await page.reload();
  await page.getByText("Confirmed that it is you (passkey)").waitFor();
});

it.runIf(full)("says what happened when no passkey was chosen, and offers none where the address is a number", async () => {
  await page.goto(`${url}/auth`);
  await page.locator("html[data-live]").waitFor({ state: "attached" });
  const device = await addDevice("internal");
  await devices.send("WebAuthn.setUserVerified", { authenticatorId: device, isUserVerified: false });
  await button("Sign in with a passkey").click();
  await page.getByText("No passkey was used. Try again, or choose another way.").waitFor();

  await page.goto(`${stage.url}/auth`);
  await button("Sign in").waitFor();
  expect(await button("Sign in with a passkey").count()).toBe(0);
});
