/** The messages when a prompt is refused (specification §8), and what they offer. */
import i18next from "i18next";
import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { initReactI18next } from "react-i18next/initReactI18next";
import { beforeAll, describe, expect, it } from "vitest";
import { Router } from "wouter";
import { useModels } from "#client/features/chat/models-store.ts";
import { NoCredits } from "#client/features/chat/no-credits.tsx";
import { RefusalView } from "#client/features/chat/refusal-view.tsx";
import { RefusalWays } from "#client/features/chat/refusal-ways.tsx";
import { RoomLink } from "#client/features/chat/room-link.tsx";
import chat from "#client/i18n/locales/en/chat.json" with { type: "json" };
import common from "#client/i18n/locales/en/common.json" with { type: "json" };
import dialogs from "#client/i18n/locales/en/dialogs.json" with { type: "json" };
import errors from "#client/i18n/locales/en/errors.json" with { type: "json" };
import files from "#client/i18n/locales/en/files.json" with { type: "json" };
import refusals from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import type { NextCredits } from "#client/lib/next-credits.ts";

function draw(view: ReactNode): string {
  return renderToStaticMarkup(<Router ssrPath="/ai-models">{view}</Router>);
}

beforeAll(async () => {
  await i18next.use(initReactI18next).init({
    lng: "en",
    ns: ["chat"],
    defaultNS: "common",
    resources: { en: { chat, common, dialogs, errors, files, refusals } },
    interpolation: { escapeValue: false },
  });
});

const noted = { detail: "", quotedCredits: undefined, retryAtMs: undefined, again: null };
const nothing = () => undefined;

function drawn(needed: number, available: number, nextCredits: NextCredits | null): string {
  const model = useModels.getState().models.find(({ credits, category }) => credits === needed && category === "text");
  return draw(<NoCredits needed={needed} available={available} model={model} next={nextCredits} onUse={nothing} />);
}

describe("out of credits", () => {
  it("names the credits needed and available, an affordable model with its price, and the day of the next credits", () => {
    const html = drawn(5, 3, { kind: "on", at: "2026-12-01T12:00:00.000Z", credits: 300 });
    expect(html).toContain("This costs 5 credits and you have 3 credits. Nothing was charged.");
    expect(html).toMatch(/<button[^>]*>Use GPT-6 Luna for 1 credit<\/button>/);
    expect(html).toContain("Your next credits come on December 1, 2026.");
  });

  it("leads to the packs and the plans if the plan is paid, and says when a larger one would start", () => {
    const html = drawn(5, 0, { kind: "on", at: "2026-12-01T12:00:00.000Z", credits: 300 });
    expect(html).toMatch(/<a [^>]*href="\/pricing#packs"[^>]*>Credit packs<\/a>/);
    expect(html).toMatch(/<a [^>]*href="\/pricing"[^>]*>View plans<\/a>/);
    expect(html).toContain("A larger plan starts with your next billing period.");
    expect(drawn(1, 0, { kind: "unpaid" })).not.toContain("#packs");
    expect(drawn(5, 0, null)).not.toContain("#packs");
  });

  it("links to the account if an invoice is unpaid or the plan ends", () => {
    expect(drawn(1, 0, { kind: "unpaid" })).toMatch(/once the unpaid invoice is paid.*href="\/profile"/);
    expect(drawn(1, 0, { kind: "ends", at: "2026-12-01T12:00:00.000Z" })).toMatch(/plan ends on December 1, 2026.*href="\/profile"/);
  });

  it("does not mention the composer for a prompt that was never in it", () => {
    const again = { modelId: "gpt-5-mini", prompt: "Go on", place: { parentId: "a1" } };
    const refusal = { ...noted, code: "network", needed: undefined, available: undefined, again };
    const actions = { onUse: nothing, onDismiss: nothing, onAccept: nothing };
    const html = draw(<RefusalView refusal={refusal} model={undefined} nextCredits={null} {...actions} />);
    expect(html).toContain("charged twice");
    expect(html).not.toContain("below");
  });

  it("links to the plans if there is none", () => {
    const refusal = { ...noted, code: "subscription_required", needed: undefined, available: undefined };
    const actions = { onUse: nothing, onDismiss: nothing, onAccept: nothing };
    expect(draw(<RefusalView refusal={refusal} model={undefined} nextCredits={null} {...actions} />)).toContain('href="/pricing"');
  });
});

describe("no room", () => {
  it("leads to what takes it, from a refused prompt, from an upload and from whatever else says so", () => {
    const refusal = { ...noted, code: "storage_full", needed: undefined, available: undefined };
    const props = { refusal, model: undefined, nextCredits: null, onUse: nothing, onDismiss: nothing, onAccept: nothing };
    const leads = /<a [^>]*href="\/profile\/files"[^>]*>See your files<\/a>/;
    expect(draw(<RefusalWays {...props} plans={null} dismiss={null} why={null} />)).toMatch(leads);
    expect(draw(<RoomLink code="storage_full" />)).toMatch(leads);
    expect(draw(<RoomLink code="file_damaged" />)).toBe("");
  });
});

describe("a prompt that was refused", () => {
  const told = (refusal: { code: string; retryAtMs?: number; quotedCredits?: number }) => {
    const actions = { onUse: nothing, onDismiss: nothing, onAccept: nothing };
    const whole = { ...noted, needed: undefined, available: undefined, ...refusal };
    const props = { refusal: whole, model: undefined, nextCredits: null, ...actions };
    // What the view shows until the ways out of it are loaded, and if it has none.
    const why = <RefusalView {...props} />;
    return draw(<RefusalWays {...props} plans={null} dismiss={null} why={why} />);
  };

  it("because its price needs a yes names the price and offers to send for it", () => {
    const html = told({ code: "confirmation_required", quotedCredits: 5 });
    expect(html).toContain("This costs 5 credits.");
    expect(html).toMatch(/<button[^>]*>Send for 5 credits<\/button>/);
  });

  it("at the person's own daily cap says when the day ends and leads to the limits", () => {
    const html = told({ code: "daily_cap_reached" });
    expect(html).toContain("midnight UTC");
    expect(html).toMatch(/<a [^>]*href="\/profile\/usage#limits"[^>]*>Change limits<\/a>/);
  });

  it("because there were too many says for how long to wait, and then that it can be sent", () => {
    const html = told({ code: "rate_limited", retryAtMs: Date.now() + 41_500 });
    expect(html).toMatch(/You can send again in \d+ seconds\. Nothing was charged/);
    expect(told({ code: "rate_limited", retryAtMs: Date.now() - 1 })).toContain(chat.refusal.ready);
  });

  it("because its model is unavailable says so, and leaves the prompt for another try", () => {
    const html = told({ code: "model_unavailable" });
    expect(html).toContain(refusals.model_unavailable.replaceAll("'", "&#x27;"));
    expect(html).toContain(chat.refusal.dismiss);
    const waiting = told({ code: "model_unavailable", retryAtMs: Date.now() + 41_500 });
    expect(waiting).toContain(refusals.model_unavailable.replaceAll("'", "&#x27;"));
    expect(waiting).toMatch(/Next try in \d+ s\./);
    expect(told({ code: "model_unavailable", retryAtMs: Date.now() - 1 })).toContain(chat.refusal.ready);
  });

  it("for a reason nobody expected says to try again in a moment", () => {
    expect(told({ code: "unexpected" })).toContain(chat.refusal.busy.replaceAll("'", "&#x27;"));
  });
});
