/** Reads environment variables and collects what is wrong with them. What they mean is in config.ts. */
import { isIP } from "node:net";

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

/** Collects all faults instead of stopping at the first. A variable that is blank counts as not set. */
export class Environment {
  readonly faults: string[] = [];
  /** The variables that were asked for, in this order, and whether they are set. */
  readonly asked = new Map<string, boolean>();
  private readonly variables: NodeJS.ProcessEnv;

  constructor(variables: NodeJS.ProcessEnv) {
    this.variables = variables;
  }

  text(name: string): string | undefined {
    const value = this.variables[name]?.trim() || undefined;
    this.asked.set(name, value !== undefined);
    return value;
  }

  required(name: string, why: string): string {
    const value = this.text(name);
    if (value !== undefined) return value;
    this.faults.push(`${name} is ${this.variables[name] === undefined ? "missing" : "blank"}: ${why}`);
    return "";
  }

  integer<Fallback extends number | undefined>(name: string, fallback: Fallback, minimum: number, maximum: number): number | Fallback {
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
