import type { Page } from "playwright-core";
import texts from "#client/i18n/locales/en/order.json" with { type: "json" };
import type { OrderPreview } from "#contract/billing/orders.ts";
import { addMonths } from "#domain/clock.ts";
import { orderTexts, soldAs, totalsOf } from "#domain/orders.ts";
import { currency } from "#domain/plans.ts";

/** What the server would say of an order, with `percent` off the first period. */
export function orderOf(priceId: string, percent = 0): OrderPreview {
  const sold = soldAs(priceId);
  if (!sold) throw new Error(`${priceId} is not sold`);
  const subject =
    sold.kind === "plan"
      ? ({ kind: "plan", plan: sold.plan.key, interval: sold.interval } as const)
      : ({ kind: "pack", credits: sold.pack.credits } as const);
  const until = addMonths(new Date("2026-03-10T12:00:00Z"), 1).toISOString();
  return { subject, ...totalsOf(sold, percent), currency, tax: null, until, ...orderTexts };
}

/** Ticks the consent and orders. */
export async function agree(page: Page): Promise<void> {
  const dialog = page.getByRole("dialog", { name: texts.title });
  await dialog.getByRole("checkbox").check();
  await dialog.getByRole("button", { name: texts.confirm }).click();
}
