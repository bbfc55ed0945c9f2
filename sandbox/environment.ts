/**
 * The sandbox's environment variables. The sandbox may not import the server's code (docs/decisions/0015), so it parses them
 * itself. Each invalid value gives one line.
 */
export interface SandboxEnvironment {
  host: string;
  port: number;
  /** The public origin, for the addresses of hosted pages and links. */
  origin: URL;
  /** A secret shared with the product. It signs webhooks and authorises moving the product's clock. */
  token: string;
  /** 0 for any free port. */
  smtpPort: number;
  /** Google's address, for browsers and the product; its port is the one to listen on. Undefined if Google is not played. */
  googleUrl: URL | undefined;
  /** The product's origin as the sandbox reaches it. */
  productUrl: URL;
  /** The product's origin as people reach it. */
  publicUrl: URL;
  /** The folder of the sandbox's own databases. */
  dataDirectory: string;
  /** False if the product uses the real Stripe. The clock can't be moved then. */
  stripe: boolean;
  /** The product has tax calculated: the Stripe that is played is set up for it. */
  taxes: boolean;
  logLevel: string;
}

export class SandboxEnvironmentError extends Error {
  override readonly name = "SandboxEnvironmentError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

class Variables {
  readonly faults: string[] = [];
  private readonly variables: NodeJS.ProcessEnv;

  constructor(variables: NodeJS.ProcessEnv) {
    this.variables = variables;
  }

  text(name: string): string | undefined {
    const value = this.variables[name]?.trim();
    return value === "" ? undefined : value;
  }

  port(name: string, fallback: number, minimum: number): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= minimum && number <= 65_535) return number;
    this.faults.push(`${name}=${value} is not a port from ${minimum} to 65535`);
    return fallback;
  }

  url(name: string, fallback: string): URL {
    const value = this.text(name);
    if (value !== undefined && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return new URL(value);
    if (value !== undefined) this.faults.push(`${name} is not an address of the form http://host`);
    return new URL(fallback);
  }

  oneOf(name: string, fallback: string, allowed: readonly string[]): string {
    const value = this.text(name) ?? fallback;
    if (allowed.includes(value)) return value;
    this.faults.push(`${name}=${value} is not one of ${allowed.join(", ")}`);
    return fallback;
  }
}

/** Throws a SandboxEnvironmentError that lists every fault. `NODE_ENV=production` is a fault too. */
export function readSandboxEnvironment(variables: NodeJS.ProcessEnv): SandboxEnvironment {
  const read = new Variables(variables);
  if (read.text("NODE_ENV") === "production") read.faults.push("NODE_ENV=production: the sandbox never runs in production");
  const token = read.text("SANDBOX_TOKEN");
  if (token === undefined) read.faults.push("SANDBOX_TOKEN is missing: the sandbox and the product authenticate to each other with it");
  const host = read.text("HOST") ?? "127.0.0.1";
  const port = read.port("SANDBOX_PORT", 3001, 1);
  const productUrl = read.url("PRODUCT_URL", "http://127.0.0.1:3000");
  const environment: SandboxEnvironment = {
    host,
    port,
    origin: read.url("SANDBOX_URL", `http://${reachableHost(host)}:${port}`),
    token: token ?? "",
    smtpPort: read.port("SANDBOX_SMTP_PORT", 0, 0),
    googleUrl: read.text("SANDBOX_GOOGLE_URL") === undefined ? undefined : read.url("SANDBOX_GOOGLE_URL", "http://127.0.0.1:3002"),
    productUrl,
    publicUrl: read.url("PUBLIC_URL", productUrl.href),
    dataDirectory: `${read.text("DATA_DIR") ?? ".data"}/sandbox`,
    taxes: read.text("STRIPE_TAX") === "included",
    stripe: read.oneOf("SANDBOX_STRIPE", "on", ["on", "off"]) === "on",
    logLevel: read.oneOf("LOG_LEVEL", "warn", logLevels),
  };
  if (read.faults.length > 0) throw new SandboxEnvironmentError(read.faults);
  return environment;
}

/** An address that can be opened: one can listen on a wildcard address but not open it. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
