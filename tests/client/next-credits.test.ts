import { describe, expect, it } from "vitest";
import { nextCredits } from "#client/lib/next-credits.ts";
import { starter } from "./states-support.ts";

const [month, end] = ["2026-04-10T10:00:00.000Z", "2027-03-10T10:00:00.000Z"];
const year = { ...starter, billing_interval: "year", subscription_end: end } as const;

describe("when the next credits come", () => {
  it("is the day the server names: with an annual plan the next month's, even if it will not be renewed", () => {
    expect(nextCredits({ ...year, next_credits_at: month })).toEqual({ kind: "on", at: month, credits: 300 });
    expect(nextCredits({ ...year, next_credits_at: month, cancel_at_period_end: true })).toEqual({ kind: "on", at: month, credits: 300 });
  });

  it("are those of the plan to come only from its first day", () => {
    const coming = { ...year, plan_to_come: { plan: "professional", interval: "month", from: end } } as const;
    expect(nextCredits({ ...coming, next_credits_at: month })).toMatchObject({ at: month, credits: 300 });
    expect(nextCredits({ ...coming, next_credits_at: end })).toMatchObject({ at: end, credits: 750 });
  });

  it("depends on an unpaid invoice, is never if the plan ends, and is unknown otherwise", () => {
    const ending = { cancel_at_period_end: true, next_credits_at: null } as const;
    expect(nextCredits({ ...year, next_credits_at: null, status: "past_due" })).toEqual({ kind: "unpaid" });
    const unpaid = { invoiceId: "in_1", amountCents: 9_999, until: null, needsAction: false, processing: false, dueAt: end };
    expect(nextCredits({ ...year, next_credits_at: null, unpaid })).toEqual({ kind: "unpaid" });
    expect(nextCredits({ ...year, ...ending })).toEqual({ kind: "ends", at: end });
    expect(nextCredits({ ...year, ...ending, subscription_end: null })).toBeNull();
    expect(nextCredits({ ...year, next_credits_at: null })).toBeNull();
  });
});
