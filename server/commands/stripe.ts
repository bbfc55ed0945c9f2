/**
 * `npm run stripe:setup` makes what the product needs in the Stripe account of STRIPE_SECRET_KEY, for the product at PUBLIC_URL, and corrects what
 * differs; safe to repeat. `npm run stripe:check` only says what differs; the exit code is 1 if anything does (docs/stripe.md).
 */
import { parseArgs } from "node:util";
import { ConfigError, Environment } from "../environment.ts";
import type { Difference } from "../features/billing/stripe-account.ts";
import { compareAccount } from "../features/billing/stripe-account.ts";
import { createPayments, isLiveKey } from "../providers/stripe.ts";
import { readStripeTax } from "../stripe-config.ts";
import { runCommand } from "./run-command.ts";

/** Settings that decide what becomes of payments, and that Stripe's API does not show. */
const unseen = [
  "Not visible to the API, so look yourself (docs/stripe.md, step 4):",
  "  failed payments: retries within one week, then the subscription is cancelled",
  "  e-mails: Stripe's own about failed payments are off",
];

function readAccount(variables: NodeJS.ProcessEnv) {
  const environment = new Environment(variables);
  const secretKey = environment.required("STRIPE_SECRET_KEY", "the account to look at (dashboard.stripe.com, Developers, API keys)");
  const apiUrl = environment.url("STRIPE_API_URL", ["https:", "http:"]);
  const publicUrl = environment.url("PUBLIC_URL", ["https:", "http:"]);
  const livemode = isLiveKey(secretKey);
  const tax = readStripeTax(environment);
  if (!publicUrl) environment.required("PUBLIC_URL", "the product's address, to which Stripe sends its events");
  else if (livemode && publicUrl.protocol !== "https:")
    environment.faults.push("PUBLIC_URL has to begin with https: the key is a live one");
  if (environment.faults.length > 0) throw new ConfigError(environment.faults);
  return { stripe: { secretKey, webhookSecrets: [], apiUrl, livemode, tax }, origin: publicUrl?.origin ?? "", livemode };
}

async function repair(differences: readonly Difference[]): Promise<string[]> {
  const lines: string[] = [];
  for (const difference of differences) {
    if (!difference.repair) {
      lines.push(difference.what);
      continue;
    }
    const { done, secret } = await difference.repair();
    // At once: the secret is shown only here, and a later step may fail.
    console.log(done);
    if (secret !== undefined) console.log(`\nPut this into the environment; it is not shown again:\nSTRIPE_WEBHOOK_SECRET=${secret}\n`);
  }
  return lines;
}

async function run(variables: NodeJS.ProcessEnv): Promise<string[]> {
  const [command] = parseArgs({ allowPositionals: true }).positionals;
  if (command !== "setup" && command !== "check") throw new Error("give setup or check");
  const { stripe, origin, livemode } = readAccount(variables);
  const payments = createPayments(stripe);
  console.log(`${livemode ? "The live account" : "The account's test mode"}, for ${origin}`);
  const differences = await compareAccount(payments, origin, stripe.tax);
  const left = command === "setup" ? await repair(differences) : differences.map(({ what }) => what);
  const lines = left.length > 0 ? left : [differences.length > 0 ? "everything is set up" : "nothing differs"];
  process.exitCode = left.length > 0 ? 1 : 0;
  return [...lines, ...unseen];
}

await runCommand(() => run(process.env));
