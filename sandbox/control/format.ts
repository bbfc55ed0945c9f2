import { dayMs, hourMs, minuteMs } from "#domain/clock.ts";
import type { Html } from "./html.ts";
import { html } from "./html.ts";

const dayAndTime = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});

/** A time in UTC, readable for people and, in `datetime`, for programs. */
export function timeOf(instant: Date): Html {
  return html`<time datetime="${instant.toISOString()}">${dayAndTime.format(instant)}</time>`;
}

const usDollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });

/** The catalogue has one currency. */
export function dollars(amountCents: number): string {
  return usDollars.format(amountCents / 100);
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** How far business time is ahead of real time, in the largest unit. */
export function describeLead(leadMs: number): string {
  if (leadMs < minuteMs) return "In step with the real time";
  if (leadMs < hourMs) return `${counted(Math.floor(leadMs / minuteMs), "minute")} ahead of the real time`;
  if (leadMs < dayMs) return `${counted(Math.floor(leadMs / hourMs), "hour")} ahead of the real time`;
  return `${counted(Math.floor(leadMs / dayMs), "day")} ahead of the real time`;
}
