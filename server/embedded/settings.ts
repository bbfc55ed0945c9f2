/** The settings that `npm start` reads from the environment, and the environment it gives to the processes it starts. */

import path from "node:path";
import { providers } from "#domain/models.ts";
import { readConfig, readProduction } from "../config.ts";
import { ConfigError, Environment } from "../environment.ts";
import type { Secrets } from "./secrets.ts";

export interface Settings {
  production: boolean;
  development: boolean;
  host: string;
  port: number;
  sandboxPort: number;
  dataDir: string;
  /** Undefined for the embedded PostgreSQL. */
  databaseUrl: string | undefined;
  migrateDatabaseUrl: string | undefined;
  adminEmail: string | undefined;
  /** Which services the sandbox replaces because they have no credentials. Undefined if all have them, and in production. */
  sandbox: { stripe: boolean; mail: boolean } | undefined;
  /** The folder of the server's bundle (server-bundle.ts). Undefined to run the sources. */
  bundle?: string | undefined;
}

/** The port of Vite's development server, which forwards calls to the API. */
export const developmentPort = 5173;

/** An address a browser can open: a wildcard address is replaced, since one can listen on it but not open it. */
export function visitable(host: string, port: number): string {
  if (host === "0.0.0.0" || host === "::") return `http://127.0.0.1:${port}`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export function readSettings(variables: NodeJS.ProcessEnv, development: boolean): Settings {
  const environment = new Environment(variables);
  const protocols = ["postgres:", "postgresql:"];
  const production = readProduction(environment);
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
  // Check the processes' own configuration too, so that its faults are printed before anything is started.
  const stand = { secretKey: "-".repeat(32), sandboxToken: "-" } as Secrets;
  const faults = faultsOf(
    processEnvironment(variables, settings, stand, {
      ...{ databaseUrl: "postgres://127.0.0.1/tessera", clientDir: undefined },
      ...{ smtpPort: 1, googlePort: 1 },
    }),
  );
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

/** The environment of a process that is started before the database is ready (part.ts, `startAhead`). */
export function environmentAhead(variables: NodeJS.ProcessEnv, settings: Settings): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {
    ...variables,
    TESSERA_SUPERVISED: "1",
    DATA_DIR: settings.dataDir,
    // With Node's compile cache the processes need a third less time to start.
    NODE_COMPILE_CACHE: variables.NODE_COMPILE_CACHE?.trim() || path.join(settings.dataDir, "compile-cache"),
  };
  // Only the migration may use the owner's role.
  delete environment.MIGRATE_DATABASE_URL;
  return environment;
}

/** A variable of the operator's; undefined if it is blank. */
function given(variables: NodeJS.ProcessEnv, name: string): string | undefined {
  return variables[name]?.trim() ? variables[name] : undefined;
}

/** Where the sandbox listens beside its own port. */
export interface SandboxPorts {
  smtpPort: number;
  googlePort: number;
}

/** The environment that all processes have in common, and the sandbox's. Nothing of it needs the database. */
export function sandboxEnvironment(
  variables: NodeJS.ProcessEnv,
  settings: Settings,
  secrets: Secrets,
  { smtpPort, googlePort }: SandboxPorts,
): NodeJS.ProcessEnv {
  const { host, port, sandboxPort, sandbox } = settings;
  const environment: NodeJS.ProcessEnv = {
    ...environmentAhead(variables, settings),
    HOST: host,
    PORT: String(port),
  };
  environment.PUBLIC_URL =
    given(variables, "PUBLIC_URL") ?? (settings.development ? visitable(host, developmentPort) : visitable(host, port));
  if (sandbox) {
    environment.SANDBOX_URL = given(variables, "SANDBOX_URL") ?? visitable(host, sandboxPort);
    environment.SANDBOX_PORT = String(sandboxPort);
    environment.SANDBOX_TOKEN = given(variables, "SANDBOX_TOKEN") ?? secrets.sandboxToken;
    environment.SANDBOX_STRIPE = sandbox.stripe ? "on" : "off";
    environment.SANDBOX_SMTP_PORT = String(smtpPort);
    environment.SANDBOX_GOOGLE_URL = given(variables, "SANDBOX_GOOGLE_URL") ?? visitable(host, googlePort);
    environment.PRODUCT_URL = visitable(host, port);
  } else {
    delete environment.SANDBOX_URL;
  }
  return environment;
}

/** The environment of API and worker: the given variables, and those that `npm start` sets. */
export function processEnvironment(
  variables: NodeJS.ProcessEnv,
  settings: Settings,
  secrets: Secrets,
  found: SandboxPorts & { databaseUrl: string; clientDir: string | undefined },
): NodeJS.ProcessEnv {
  const environment = sandboxEnvironment(variables, settings, secrets, found);
  environment.DATABASE_URL = given(variables, "DATABASE_URL") ?? found.databaseUrl;
  // No other API process takes over here, and Ctrl-C should not take long.
  environment.DRAIN_TIMEOUT_SECONDS = "5";
  if (found.clientDir) environment.CLIENT_DIR = found.clientDir;
  // A blank SECRET_KEY is probably a mistake, so it is not replaced by the generated one. In production no secret is generated.
  if (!settings.production && variables.SECRET_KEY === undefined) environment.SECRET_KEY = secrets.secretKey;
  if (settings.sandbox?.mail) environment.SMTP_URL = `smtp://${new URL(visitable(settings.host, found.smtpPort)).host}`;
  return environment;
}
