import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** The stripe package's type for each `object` of the API. */
const typeNames: Readonly<Record<string, string>> = {
  balance_transaction: "Stripe.BalanceTransaction",
  "billing_portal.configuration": "Stripe.BillingPortal.Configuration",
  "billing_portal.session": "Stripe.BillingPortal.Session",
  charge: "Stripe.Charge",
  "checkout.session": "Stripe.Checkout.Session",
  coupon: "Stripe.Coupon",
  credit_note: "Stripe.CreditNote",
  customer: "Stripe.Customer",
  dispute: "Stripe.Dispute",
  invoice: "Stripe.Invoice",
  invoice_payment: "Stripe.InvoicePayment",
  item: "Stripe.LineItem",
  line_item: "Stripe.InvoiceLineItem",
  payment_intent: "Stripe.PaymentIntent",
  payment_method: "Stripe.PaymentMethod",
  price: "Stripe.Price",
  product: "Stripe.Product",
  refund: "Stripe.Refund",
  subscription: "Stripe.Subscription",
  subscription_item: "Stripe.SubscriptionItem",
  subscription_schedule: "Stripe.SubscriptionSchedule",
  "tax.registration": "Stripe.Tax.Registration",
  "tax.settings": "Stripe.Tax.Settings",
  tax_id: "Stripe.TaxId",
  tax_rate: "Stripe.TaxRate",
  webhook_endpoint: "Stripe.WebhookEndpoint",
};
const deletedTypeNames: Readonly<Record<string, string>> = {
  customer: "Stripe.DeletedCustomer",
  coupon: "Stripe.DeletedCoupon",
  tax_id: "Stripe.DeletedTaxId",
  webhook_endpoint: "Stripe.DeletedWebhookEndpoint",
};

/**
 * A response type of the package as JSON, with its enumerations closed: the package leaves them open for values to come. The former
 * values of an event are parts, within nested objects too.
 */
const helperTypes = `
export type OtherString = string & Record<never, never>;
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
export type Closed<T> = T extends string ? (Same<T, OtherString> extends true ? never : T)
  : T extends number | boolean | null | undefined ? T
  : T extends Stripe.Decimal ? string
  : T extends readonly (infer Item)[] ? Closed<Item>[]
  : { [Key in keyof T]: Closed<T[Key]> };
export type Part<T> = T extends readonly unknown[] ? T : T extends Stripe.Decimal ? T : T extends object ? { [Key in keyof T]?: Part<T[Key]> | null } : T;
export type Told<T extends { data: { object: unknown } }> = Omit<T, "data"> & { data: { object: T["data"]["object"]; previous_attributes?: Part<T["data"]["object"]> } };
`;

interface Recorded {
  object: string;
  type?: string;
  deleted?: boolean;
  data?: Recorded[];
  error?: object;
}

function typeOf(recorded: Recorded): string {
  // Stripe announces an invoice without an id, though its type has one.
  if (recorded.type === "invoice.upcoming")
    return `Omit<Stripe.InvoiceUpcomingEvent, "data"> & { data: { object: Omit<Stripe.Invoice, "id"> } }`;
  if (recorded.object === "event") return `Told<Extract<Stripe.Event, { type: ${JSON.stringify(recorded.type)} }>>`;
  const name = recorded.deleted ? deletedTypeNames[recorded.object] : typeNames[recorded.object];
  if (name === undefined) throw new Error(`no type is known for ${recorded.object}`);
  return name;
}

/** Replaces numbers, ids, addresses and free texts by one value each. What differs then is the object's shape and its enumerations. */
function shapeOf(recorded: Recorded): string {
  return JSON.stringify(recorded, (_name, value: unknown) => {
    if (typeof value === "number") return 0;
    return typeof value === "string" && /[^a-z_.]/.test(value) ? "~" : value;
  });
}

/** Records each different object in the API's responses and webhooks once: or one of each shape, for the long runs. */
export class Recording {
  private readonly statements = new Set<string>();
  private readonly shapes: Set<string> | undefined;
  readonly kinds = new Set<string>();

  constructor(onlyShapes = false) {
    this.shapes = onlyShapes ? new Set() : undefined;
  }

  add(json: string): void {
    const recorded = JSON.parse(json) as Recorded;
    if (recorded.error) return;
    if (recorded.object !== "list") {
      this.remember(recorded);
      return;
    }
    this.statements.add(`${JSON.stringify({ ...recorded, data: [] })} satisfies Stripe.ApiList<unknown>`);
    for (const item of recorded.data ?? []) this.remember(item);
  }

  private remember(recorded: Recorded): void {
    if (this.shapes) {
      const shape = shapeOf(recorded);
      if (this.shapes.has(shape)) return;
      this.shapes.add(shape);
    }
    this.kinds.add(recorded.object === "event" ? `event ${recorded.type ?? ""}` : recorded.object);
    this.statements.add(`${JSON.stringify(recorded)} satisfies Closed<${typeOf(recorded)}>`);
  }

  source(): string {
    // Each is a statement of its own. In one array their types would form a union, which is too large for the compiler after a long run.
    const lines = [...this.statements].map((statement) => `void (${statement});`);
    return ['import type { Stripe } from "stripe";', helperTypes, ...lines].join("\n");
  }

  get size(): number {
    return this.statements.size;
  }
}

const root = join(import.meta.dirname, "../../..");

/** The compiler's errors for the source, which is compiled inside the project so that its packages and settings apply. */
export async function typeErrors(source: string): Promise<string[]> {
  const folder = mkdtempSync(join(import.meta.dirname, ".recorded-"));
  try {
    writeFileSync(join(folder, "recorded.ts"), source);
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: "../../../../tsconfig.json", include: ["recorded.ts"], exclude: [] }),
    );
    await promisify(execFile)(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], {
      maxBuffer: 32 * 1024 * 1024,
    });
    return [];
  } catch (error) {
    const output = (error as { stdout?: unknown }).stdout;
    if (typeof output !== "string" || !output.includes("error TS")) throw error;
    return output
      .split("\n")
      .filter((line) => line.includes("error TS"))
      .map((line) => line.slice(0, 600));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
