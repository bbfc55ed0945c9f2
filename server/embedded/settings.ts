/** What the one-command start reads of the environment, and what it gives to the processes it starts. */

import { fileURLToPath } from "node:url";
import { providers } from "#domain/models.ts";
import { ConfigError, Environment, readConfig } from "../config.ts";
import type { Secrets } from "./secrets.ts";

export interface Settings {
  production: boolean;
  development: boolean;
  host: string;
  port: number;
  sandboxPort: number;
  dataDir: string;
  /** Absent: the embedded PostgreSQL. */
  databaseUrl: string | undefined;
  migrateDatabaseUrl: string | undefined;
  adminEmail: string | undefined;
  /** The stand-ins that serve what has no credentials; undefined where everything has, and in production. */
  sandbox: { stripe: boolean; mail: boolean } | undefined;
}

const compileCache = fileURLToPath(new URL("../../node_modules/.cache/node", import.meta.url));

/** Where the development server of the client listens, in front of the API. */
export const developmentPort = 5173;

/** A wildcard address can be bound but not visited. */
export function visitable(host: string, port: number): string {
  if (host === "0.0.0.0" || host === "::") return `http://127.0.0.1:${port}`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export function readSettings(variables: NodeJS.ProcessEnv, development: boolean): Settings {
  const environment = new Environment(variables);
  const protocols = ["postgres:", "postgresql:"];
  const production = environment.text("NODE_ENV") === "production";
  const missing = {
    stripe: !environment.text("STRIPE_SECRET_KEY"),
    mail: !environment.text("SMTP_URL"),
    models: providers.some((provider) => !environment.text(`${provider.toUpperCase()}_API_KEY`)),
  };
  const settings: Settings = {
    production,
    development,
    host: environment.host("HOST", "127.0.0.1"),
    port: environment.integer("PORT", 3000, 1, 65_535),
    sandboxPort: environment.integer("SANDBOX_PORT", 3001, 1, 65_535),
    dataDir: environment.text("DATA_DIR") ?? ".data",
    databaseUrl: environment.url("DATABASE_URL", protocols)?.href,
    migrateDatabaseUrl: environment.url("MIGRATE_DATABASE_URL", protocols)?.href,
    adminEmail: environment.list("ADMIN_EMAILS")[0]?.toLowerCase() ?? (production ? undefined : "admin@tessera.example"),
    sandbox: !production && (missing.stripe || missing.mail || missing.models) ? { stripe: missing.stripe, mail: missing.mail } : undefined,
  };
  if (settings.migrateDatabaseUrl && !settings.databaseUrl && environment.text("DATABASE_URL") === undefined) {
    environment.faults.push("MIGRATE_DATABASE_URL is given without DATABASE_URL: give both, or neither for the embedded PostgreSQL");
  }
  if (settings.sandbox && settings.port === settings.sandboxPort)
    environment.faults.push(`PORT and SANDBOX_PORT are both ${settings.port}: set one of them to another port`);
  // The faults of the processes' own configuration are told now, before anything is started.
  const stand = { secretKey: "-".repeat(32), sandboxToken: "-" } as Secrets;
  const faults = faultsOf(processEnvironment(variables, settings, stand, { databaseUrl: "postgres://127.0.0.1/tessera", smtpPort: 1 }));
  const all = [...new Set([...environment.faults, ...faults])];
  if (all.length > 0) throw new ConfigError(all);
  return settings;
}

function faultsOf(variables: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig(variables);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

/** The environment of API, worker and sandbox: what was given, and what the start itself provides. */
export function processEnvironment(
  variables: NodeJS.ProcessEnv,
  settings: Settings,
  secrets: Secrets,
  found: { databaseUrl: string; smtpPort: number },
): NodeJS.ProcessEnv {
  const { host, port, sandboxPort, sandbox } = settings;
  const given = (name: string) => (variables[name]?.trim() ? variables[name] : undefined);
  const environment: NodeJS.ProcessEnv = {
    ...variables,
    TESSERA_SUPERVISED: "1",
    HOST: host,
    PORT: String(port),
    DATA_DIR: settings.dataDir,
  };
  environment.DATABASE_URL = given("DATABASE_URL") ?? found.databaseUrl;
  environment.PUBLIC_URL = given("PUBLIC_URL") ?? (settings.development ? visitable(host, developmentPort) : visitable(host, port));
  // Parsed once, the programs start in two thirds of the time.
  environment.NODE_COMPILE_CACHE = given("NODE_COMPILE_CACHE") ?? compileCache;
  // The owner's rights are for the migration alone.
  delete environment.MIGRATE_DATABASE_URL;
  // Whoever gives a blank key meant to give one; in production none is made up.
  if (!settings.production && variables.SECRET_KEY === undefined) environment.SECRET_KEY = secrets.secretKey;
  if (sandbox) {
    environment.SANDBOX_URL = given("SANDBOX_URL") ?? visitable(host, sandboxPort);
    environment.SANDBOX_PORT = String(sandboxPort);
    environment.SANDBOX_TOKEN = given("SANDBOX_TOKEN") ?? secrets.sandboxToken;
    environment.SANDBOX_STRIPE = sandbox.stripe ? "on" : "off";
    environment.SANDBOX_SMTP_PORT = String(found.smtpPort);
    environment.PRODUCT_URL = visitable(host, port);
    if (sandbox.mail) environment.SMTP_URL = `smtp://${new URL(visitable(host, found.smtpPort)).host}`;
  } else {
    delete environment.SANDBOX_URL;
  }
  return environment;
}
