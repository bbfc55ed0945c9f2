/**
 * Parses the environment variables once; no other module reads `process.env`. At the start a process prints one line for each
 * invalid value and exits with code 1.
 */

import { isIP } from "node:net";
import path from "node:path";
import ipaddr from "ipaddr.js";
import type { OwnProvider, Provider } from "#domain/models.ts";
import { providers } from "#domain/models.ts";
import { checkEmail } from "#domain/rules.ts";
import type { Bucket } from "./bucket.ts";
import { readBucket } from "./bucket.ts";
import { ConfigError, Environment } from "./environment.ts";
import type { ModelChanges } from "./model-changes.ts";
import { readModelChanges } from "./model-changes.ts";
import type { OwnModels } from "./own-models.ts";
import { readOwnModels } from "./own-models.ts";
import type { StripeConfig } from "./stripe-config.ts";
import { readStripe } from "./stripe-config.ts";

export interface ProviderCredentials {
  apiKey: string;
  /** Undefined for the provider's own address. */
  baseUrl: string | undefined;
}

export interface Config {
  production: boolean;
  host: string;
  port: number;
  /** Undefined for the client in the checkout's `client/dist`. */
  clientDir: string | undefined;
  publicUrl: URL;
  /** For whom and where passkeys are made. Undefined where browsers make none: for an IP address, and without https. */
  passkeys: { rpId: string; origin: string } | undefined;
  /** Addresses or CIDR blocks of proxies whose X-Forwarded-* headers are believed. */
  trustedProxies: string[];
  /** How many connections one network may have open; trusted proxies are exempt. */
  connectionsPerAddress: number;
  /** How long a process that was told to stop may take to finish the requests it has accepted. */
  drainTimeoutMs: number;
  /** With the application's restricted role. */
  databaseUrl: string;
  /** Undefined if nobody set it: each process then has its own default. */
  databasePoolSize: number | undefined;
  /** Undefined if BullMQ runs on PostgreSQL. */
  redisUrl: string | undefined;
  /** The first signs tokens, mailed links and cookies. During a rotation there is a second, the old one: what it signed stays valid. */
  secretKeys: [string, ...string[]];
  /** The first encrypts what the database may not show. During a rotation there is a second, the old one, which still decrypts. */
  encryptionKeys: [string, ...string[]];
  adminEmails: string[];
  stripe: StripeConfig;
  mail: { smtpUrl: string; from: string };
  /** Undefined if nobody can sign in with Google. `issuer` is the address of a stand-in, undefined for Google itself. */
  google: { clientId: string; clientSecret: string; issuer: URL | undefined } | undefined;
  /** Messages to the team are mailed to this address. */
  contactEmail: string;
  /** Name and postal address of whoever offers the product, in one line. */
  postalAddress: string;
  models: Partial<Record<Provider | OwnProvider, ProviderCredentials>>;
  /** Models that run on the operator's own servers, offered beside those of the catalogue. */
  ownModels: OwnModels["models"];
  /** What the operator changes in the catalogue. */
  modelChanges: ModelChanges;
  /** The folder of people's files, as an absolute path. */
  storageDir: string;
  /** The bucket of people's files; undefined if they are in the folder. */
  storageBucket: Bucket | undefined;
  /** Undefined without a sandbox. The sandbox replaces every service that has no credentials. */
  sandbox: { url: URL; token: string } | undefined;
  logLevel: string;
  /** The file a worker touches to show that it is healthy. */
  workerHealthFile: string | undefined;
  /** For tests: the point at which this process kills itself (fault-points.ts). Undefined in production. */
  faultPoint: string | undefined;
  /** The variables that were read. Some are secrets; config-variables.ts decides which values may be shown. */
  environment: Environment;
}

/** How many connections the requests of an API process share, unless `DATABASE_POOL_SIZE` says otherwise. */
export const apiPoolSize = 11;
/**
 * An API process refuses to start with fewer. One is for each kind of statement that must not wait for another kind: the check of sign-ins,
 * entitlements, ends of answers, their members, the log, live events and Stripe's inbox. One is for everything else.
 */
export const apiConnectionsNeeded = 8;

const secretKeyMinimum = 32;
const nodeEnvironments = ["production", "development", "test"];
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

/**
 * Refuses the short and octal forms that some programs accept (10.1, 012.0.0.1), because two programs may read them as different addresses.
 * Also refuses a block of all addresses (/0), as Fastify does.
 */
function isAddressBlock(text: string): boolean {
  if (isIP(text) !== 0) return true;
  return (ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text)) && ipaddr.parseCIDR(text)[1] > 0;
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

/** Refuses other values: with a misspelled "production" ("prod") the sandbox would run in public. */
export function readProduction(environment: Environment): boolean {
  const value = environment.text("NODE_ENV");
  if (value !== undefined && !nodeEnvironments.includes(value))
    environment.faults.push(`NODE_ENV=${value} is not one of ${nodeEnvironments.join(", ")}`);
  return value === "production";
}

function readPublicUrl(environment: Environment, production: boolean, otherwise: string): URL {
  const protocols = ["https:", "http:"];
  if (production) environment.required("PUBLIC_URL", "links in mails and the return from checkout start with it, https://…");
  const url = environment.url("PUBLIC_URL", protocols) ?? new URL(otherwise);
  // A passkey is made for one origin. A comma makes a list of addresses one strange host name.
  if (url.href !== `${url.origin}/` || url.host.includes(","))
    environment.faults.push("PUBLIC_URL is not the one address of the product: https://host, without path, name or password");
  return url;
}

/** Whom passkeys are made for (WebAuthn's relying party). A machine's own address has the name `localhost` as well. */
function readPasskeys({ protocol, hostname, port }: URL): Config["passkeys"] {
  const isOwnMachine = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  const rpId = isOwnMachine ? "localhost" : hostname;
  if (!isOwnMachine && (protocol !== "https:" || isIP(rpId) !== 0 || rpId.startsWith("["))) return undefined;
  return { rpId, origin: `${protocol}//${rpId}${port === "" ? "" : `:${port}`}` };
}

/** `address` or `Name <address>`. */
function readMailFrom(environment: Environment, production: boolean): string {
  const why = "it is the sender of all mail, Tessera <no-reply@…>";
  const from = production
    ? environment.required("MAIL_FROM", why)
    : (environment.text("MAIL_FROM") ?? "Tessera <no-reply@tessera.example>");
  const address = /^[^<>]*<([^<>]+)>$/.exec(from)?.[1] ?? from;
  if (from !== "" && checkEmail(address) !== undefined)
    environment.faults.push(`MAIL_FROM=${from} is neither an address nor of the form Name <address>`);
  return from;
}

function readContactEmail(environment: Environment, production: boolean): string {
  const why = "messages to the team are mailed to it";
  const email = production ? environment.required("CONTACT_EMAIL", why) : (environment.text("CONTACT_EMAIL") ?? "team@tessera.example");
  if (email !== "" && checkEmail(email) !== undefined) environment.faults.push(`CONTACT_EMAIL: ${email} is not an e-mail address`);
  return email;
}

/** Who offers the product, and where: mails that confirm a contract have to say it (Directive 2011/83/EU, article 6(1)(b) and (c)). */
function readPostalAddress(environment: Environment, production: boolean): string {
  const why = "mails and the withdrawal form name who concludes the contract, Name, street, place, country";
  return production
    ? environment.required("POSTAL_ADDRESS", why)
    : (environment.text("POSTAL_ADDRESS") ?? "Tessera, 1 Example Street, Example Town");
}

function readLogLevel(environment: Environment, fallback: string): string {
  const level = environment.text("LOG_LEVEL") ?? fallback;
  if (!logLevels.includes(level)) environment.faults.push(`LOG_LEVEL=${level} is not one of ${logLevels.join(", ")}`);
  return level;
}

type KeyName = "SECRET_KEY" | "ENCRYPTION_KEY";

/** Reads a key, and the one that it replaces. */
function readKeys(environment: Environment, [name, previousName]: [KeyName, `${KeyName}_PREVIOUS`], why: string): [string, ...string[]] {
  const current = environment.required(name, `${why}; give at least ${secretKeyMinimum} random characters`);
  const previous = environment.text(previousName);
  for (const [variable, key] of Object.entries({ [name]: current, [previousName]: previous })) {
    if (key !== undefined && key !== "" && key.length < secretKeyMinimum)
      environment.faults.push(`${variable} has ${key.length} characters; give at least ${secretKeyMinimum} random ones`);
  }
  return previous === undefined ? [current] : [current, previous];
}

function readSecretKeys(environment: Environment): Config["secretKeys"] {
  return readKeys(environment, ["SECRET_KEY", "SECRET_KEY_PREVIOUS"], "signs sessions");
}

/** Outside production the secret keys also encrypt, unless ENCRYPTION_KEY is set. */
function readEncryptionKeys(environment: Environment, production: boolean, secretKeys: Config["secretKeys"]): Config["encryptionKeys"] {
  if (!production && environment.text("ENCRYPTION_KEY") === undefined) return secretKeys;
  return readKeys(environment, ["ENCRYPTION_KEY", "ENCRYPTION_KEY_PREVIOUS"], "encrypts the secrets of people's authenticator apps");
}

function readModels(environment: Environment, sandboxUrl: URL | undefined, { servers }: OwnModels): Config["models"] {
  const result: Config["models"] = Object.fromEntries(servers.map(({ provider, apiKey, baseUrl }) => [provider, { apiKey, baseUrl }]));
  for (const provider of providers) {
    const name = provider.toUpperCase();
    const apiKey = environment.text(`${name}_API_KEY`);
    const baseUrl = environment.url(`${name}_BASE_URL`, ["https:", "http:"]);
    if (apiKey) result[provider] = { apiKey, baseUrl: baseUrl?.href };
    else if (sandboxUrl) result[provider] = { apiKey: "sandbox", baseUrl: new URL(`/providers/${provider}/v1`, sandboxUrl).href };
  }
  return result;
}

/** Sign-in with Google: with the given credentials, or else with the Google that the sandbox plays. */
function readGoogle(environment: Environment, sandbox: Config["sandbox"]): Config["google"] {
  const issuer = environment.url("GOOGLE_ISSUER", ["https:", "http:"]);
  const given = ["GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET"].filter((name) => environment.text(name) !== undefined);
  if (given.length > 0) {
    const why = `${given[0]} is given, and sign-in with Google needs both`;
    const clientId = environment.required("GOOGLE_CLIENT_ID", why);
    return { clientId, clientSecret: environment.required("GOOGLE_CLIENT_SECRET", why), issuer };
  }
  if (issuer) environment.faults.push("GOOGLE_ISSUER is given without GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET");
  const played = sandbox && environment.url("SANDBOX_GOOGLE_URL", ["http:", "https:"]);
  return played && { clientId: "tessera-sandbox", clientSecret: `google_${sandbox.token}`, issuer: played };
}

export function readConfig(variables: NodeJS.ProcessEnv): Config {
  const environment = new Environment(variables);
  const production = readProduction(environment);
  const host = environment.host("HOST", "127.0.0.1");
  const port = environment.integer("PORT", 3000, 0, 65_535);
  const sandboxUrl = production ? undefined : environment.url("SANDBOX_URL", ["http:", "https:"]);
  const sandbox = sandboxUrl
    ? { url: sandboxUrl, token: environment.required("SANDBOX_TOKEN", "the sandbox and the product authenticate to each other with it") }
    : undefined;
  const secretKeys = readSecretKeys(environment);
  const publicUrl = readPublicUrl(environment, production, `http://${host.includes(":") ? `[${host}]` : host}:${port}`);
  const ownModels = readOwnModels(environment);
  const config: Config = {
    production,
    host,
    port,
    clientDir: environment.text("CLIENT_DIR"),
    publicUrl,
    passkeys: readPasskeys(publicUrl),
    trustedProxies: readTrustedProxies(environment),
    connectionsPerAddress: environment.integer("CONNECTIONS_PER_ADDRESS", 500, 10, 100_000),
    drainTimeoutMs: environment.integer("DRAIN_TIMEOUT_SECONDS", 120, 0, 3_600) * 1_000,
    databaseUrl:
      environment.url("DATABASE_URL", ["postgres:", "postgresql:"])?.href ??
      environment.required("DATABASE_URL", "the database's address with the restricted role, postgres://…"),
    databasePoolSize: environment.integer("DATABASE_POOL_SIZE", undefined, 2, 500),
    redisUrl: environment.url("REDIS_URL", ["redis:", "rediss:"])?.href,
    secretKeys,
    encryptionKeys: readEncryptionKeys(environment, production, secretKeys),
    adminEmails: readAdminEmails(environment),
    stripe: readStripe(environment, production, sandbox),
    mail: {
      smtpUrl:
        environment.url("SMTP_URL", ["smtp:", "smtps:"])?.href ??
        environment.required("SMTP_URL", "it is the server that sends mail, smtp://…"),
      from: readMailFrom(environment, production),
    },
    google: readGoogle(environment, sandbox),
    contactEmail: readContactEmail(environment, production),
    postalAddress: readPostalAddress(environment, production),
    models: readModels(environment, sandboxUrl, ownModels),
    ownModels: ownModels.models,
    modelChanges: readModelChanges(environment),
    storageDir: path.resolve(environment.text("STORAGE_DIR") ?? path.join(environment.text("DATA_DIR") ?? ".data", "files")),
    storageBucket: readBucket(environment),
    sandbox,
    logLevel: readLogLevel(environment, production ? "info" : "warn"),
    workerHealthFile: environment.text("WORKER_HEALTH_FILE"),
    faultPoint: production ? undefined : environment.text("TESSERA_FAULT_POINT"),
    environment,
  };
  if (environment.faults.length > 0) throw new ConfigError(environment.faults);
  return config;
}

/** Reads the environment. If values are invalid, prints one line for each and exits with 1. */
export function readConfigOrExit(variables: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(variables);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const fault of error.faults) console.error(fault);
    process.exit(1);
  }
}
