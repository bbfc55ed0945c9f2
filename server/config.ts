/**
 * The environment, parsed once. Nothing else reads `process.env`. Every fault is one clear line; the start prints them
 * all and exits with 1.
 */

import { isIP } from "node:net";
import type { Provider } from "#domain/models.ts";
import { providers } from "#domain/models.ts";
import { checkEmail } from "#domain/rules.ts";

export interface ProviderCredentials {
  apiKey: string;
  /** Undefined: the provider's own address. */
  baseUrl: string | undefined;
}

export interface Config {
  production: boolean;
  host: string;
  port: number;
  publicUrl: URL;
  /** Addresses or CIDR blocks of proxies whose X-Forwarded-* headers are believed. */
  trustedProxies: string[];
  /** The restricted role. */
  databaseUrl: string;
  databasePoolSize: number;
  /** Undefined: BullMQ runs on PostgreSQL. */
  redisUrl: string | undefined;
  /** Signs access tokens and derives refresh tokens and mailed links. */
  secretKey: string;
  adminEmails: string[];
  stripe: {
    secretKey: string;
    /** Old and new while rotating; never empty. */
    webhookSecrets: string[];
    /** Undefined: Stripe itself. */
    apiUrl: URL | undefined;
    livemode: boolean;
  };
  mail: { smtpUrl: string; from: string };
  /** Where what people write to the team goes. */
  contactEmail: string;
  models: Partial<Record<Provider, ProviderCredentials>>;
  /** Present when a stand-in of the sandbox serves at least one missing credential. */
  sandbox: { url: URL; token: string } | undefined;
  logLevel: string;
  /** For the tests: where this process dies (fault-points.ts). Never in production. */
  faultPoint: string | undefined;
}

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

/** Collects faults instead of stopping at the first. A variable that is set but blank counts as absent, except a secret's. */
export class Environment {
  readonly faults: string[] = [];
  private readonly variables: NodeJS.ProcessEnv;

  constructor(variables: NodeJS.ProcessEnv) {
    this.variables = variables;
  }

  text(name: string): string | undefined {
    const value = this.variables[name]?.trim();
    return value === "" ? undefined : value;
  }

  required(name: string, why: string): string {
    const value = this.text(name);
    if (value !== undefined) return value;
    this.faults.push(`${name} is ${this.variables[name] === undefined ? "missing" : "blank"}: ${why}`);
    return "";
  }

  integer(name: string, fallback: number, minimum: number, maximum: number): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const number = Number(value);
    if (Number.isInteger(number) && number >= minimum && number <= maximum) return number;
    this.faults.push(`${name}=${value} is not a whole number from ${minimum} to ${maximum}`);
    return fallback;
  }

  url(name: string, protocols: readonly string[]): URL | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url && protocols.includes(url.protocol)) return url;
    this.faults.push(`${name} is not an address of the form ${protocols[0]}//host`);
    return undefined;
  }

  /** An IP address or a name to listen on. */
  host(name: string, fallback: string): string {
    const value = this.text(name) ?? fallback;
    if (isIP(value) !== 0 || /^[a-z\d]([a-z\d.-]*[a-z\d])?$/i.test(value)) return value;
    this.faults.push(`${name}=${value} is neither an IP address nor the name of this machine`);
    return fallback;
  }

  list(name: string): string[] {
    return (this.text(name) ?? "")
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  }
}

const secretKeyMinimum = 32;
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

function isAddressBlock(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return bits > 0 && rest.length === 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits));
}

function readTrustedProxies(environment: Environment): string[] {
  const proxies = environment.list("TRUSTED_PROXIES");
  for (const proxy of proxies) {
    if (!isAddressBlock(proxy))
      environment.faults.push(`TRUSTED_PROXIES: ${proxy} is neither an IP address nor a block such as 10.0.0.0/8`);
  }
  return proxies;
}

function readAdminEmails(environment: Environment): string[] {
  const emails = environment.list("ADMIN_EMAILS").map((email) => email.toLowerCase());
  for (const email of emails)
    if (checkEmail(email) !== undefined) environment.faults.push(`ADMIN_EMAILS: ${email} is not an e-mail address`);
  return emails;
}

function readContactEmail(environment: Environment, production: boolean): string {
  const why = "what people write to the team is mailed there";
  const email = production ? environment.required("CONTACT_EMAIL", why) : (environment.text("CONTACT_EMAIL") ?? "team@tessera.example");
  if (email !== "" && checkEmail(email) !== undefined) environment.faults.push(`CONTACT_EMAIL: ${email} is not an e-mail address`);
  return email;
}

function readLogLevel(environment: Environment, fallback: string): string {
  const level = environment.text("LOG_LEVEL") ?? fallback;
  if (!logLevels.includes(level)) environment.faults.push(`LOG_LEVEL=${level} is none of ${logLevels.join(", ")}`);
  return level;
}

function readSecretKey(environment: Environment): string {
  const key = environment.required("SECRET_KEY", "signs sessions; give at least 32 random characters");
  if (key !== "" && key.length < secretKeyMinimum)
    environment.faults.push(`SECRET_KEY has ${key.length} characters; give at least ${secretKeyMinimum} random ones`);
  return key;
}

function readModels(environment: Environment, sandboxUrl: URL | undefined): Config["models"] {
  const result: Config["models"] = {};
  for (const provider of providers) {
    const name = provider.toUpperCase();
    const apiKey = environment.text(`${name}_API_KEY`);
    const baseUrl = environment.url(`${name}_BASE_URL`, ["https:", "http:"]);
    if (apiKey) result[provider] = { apiKey, baseUrl: baseUrl?.href };
    else if (sandboxUrl) result[provider] = { apiKey: "sandbox", baseUrl: new URL(`/providers/${provider}/v1`, sandboxUrl).href };
  }
  return result;
}

function readStripe(environment: Environment, sandbox: Config["sandbox"]): Config["stripe"] {
  const own = environment.text("STRIPE_SECRET_KEY");
  if (!own && sandbox) {
    return { secretKey: "sk_test_sandbox", webhookSecrets: [`whsec_${sandbox.token}`], apiUrl: sandbox.url, livemode: false };
  }
  const secretKey = environment.required("STRIPE_SECRET_KEY", "payments need it (dashboard.stripe.com, Developers, API keys)");
  const webhookSecret = environment.required("STRIPE_WEBHOOK_SECRET", "without it no Stripe event can be trusted");
  const previous = environment.text("STRIPE_WEBHOOK_SECRET_PREVIOUS");
  return {
    secretKey,
    webhookSecrets: previous ? [webhookSecret, previous] : [webhookSecret],
    apiUrl: environment.url("STRIPE_API_URL", ["https:", "http:"]),
    livemode: secretKey.startsWith("sk_live_") || secretKey.startsWith("rk_live_"),
  };
}

export function readConfig(variables: NodeJS.ProcessEnv): Config {
  const environment = new Environment(variables);
  const production = environment.text("NODE_ENV") === "production";
  const host = environment.host("HOST", "127.0.0.1");
  const port = environment.integer("PORT", 3000, 0, 65_535);
  const sandboxUrl = production ? undefined : environment.url("SANDBOX_URL", ["http:", "https:"]);
  const sandbox = sandboxUrl
    ? { url: sandboxUrl, token: environment.required("SANDBOX_TOKEN", "the sandbox and the product know each other by it") }
    : undefined;
  const config: Config = {
    production,
    host,
    port,
    publicUrl: environment.url("PUBLIC_URL", ["https:", "http:"]) ?? new URL(`http://${host.includes(":") ? `[${host}]` : host}:${port}`),
    trustedProxies: readTrustedProxies(environment),
    databaseUrl:
      environment.url("DATABASE_URL", ["postgres:", "postgresql:"])?.href ??
      environment.required("DATABASE_URL", "the restricted role's address, postgres://…"),
    databasePoolSize: environment.integer("DATABASE_POOL_SIZE", 10, 2, 500),
    redisUrl: environment.url("REDIS_URL", ["redis:", "rediss:"])?.href,
    secretKey: readSecretKey(environment),
    adminEmails: readAdminEmails(environment),
    stripe: readStripe(environment, sandbox),
    mail: {
      smtpUrl:
        environment.url("SMTP_URL", ["smtp:", "smtps:"])?.href ?? environment.required("SMTP_URL", "mail leaves through it, smtp://…"),
      from: environment.text("MAIL_FROM") ?? "Tessera <no-reply@tessera.example>",
    },
    contactEmail: readContactEmail(environment, production),
    models: readModels(environment, sandboxUrl),
    sandbox,
    logLevel: readLogLevel(environment, production ? "info" : "warn"),
    faultPoint: production ? undefined : environment.text("TESSERA_FAULT_POINT"),
  };
  if (environment.faults.length > 0) throw new ConfigError(environment.faults);
  return config;
}

/** Reads the environment or, where it is at fault, prints one line per fault and exits with 1. */
export function readConfigOrExit(variables: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(variables);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const fault of error.faults) console.error(fault);
    process.exit(1);
  }
}
