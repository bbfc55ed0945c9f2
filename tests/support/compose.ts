/** Reads docker-compose.yml as Compose does: YAML anchors merged and variables substituted. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { parse } from "yaml";
import { compileCache, read, root } from "./sources.ts";

export interface Service {
  image?: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  healthcheck?: { disable?: boolean; test?: string[] };
  depends_on?: Record<string, { condition: string; required?: boolean }>;
  profiles?: string[];
  volumes?: string[];
  stop_grace_period?: string;
}

export interface ComposeFile {
  services: Record<string, Service>;
}

/** `${NAME}`, `${NAME:-default}`, `${NAME-default}`, `${NAME:?message}`. */
const reference = /\$\{(\w+)(?:(:?[-?])([^}]*))?\}/g;

export function referencedVariables(): string[] {
  return [...new Set([...read("docker-compose.yml").matchAll(reference)].map(([, name = ""]) => name))];
}

/** Throws the variable's own message if a required variable is missing. */
function fillIn(text: string, variables: Record<string, string>): string {
  return text.replace(reference, (_match, name: string, operator: string | undefined, rest = "") => {
    const value = variables[name];
    if (value !== undefined && (value !== "" || !operator?.startsWith(":"))) return value;
    if (operator?.endsWith("?")) throw new Error(`${name}: ${rest}`);
    return operator?.endsWith("-") ? rest : "";
  });
}

/** The document with anchors and merges resolved and variables not substituted. */
export function readRawCompose(): unknown {
  return parse(read("docker-compose.yml"), { merge: true });
}

export function readCompose(variables: Record<string, string>): ComposeFile {
  const filled = (value: unknown): unknown => {
    if (typeof value === "string") return fillIn(value, variables);
    if (Array.isArray(value)) return value.map(filled);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item)]));
  };
  return filled(readRawCompose()) as ComposeFile;
}

/** Runs a service's command as a process, without a container. */
export class Running {
  readonly exited: Promise<number | null>;
  output = "";
  private readonly child: ChildProcess;

  constructor(command: readonly string[], environment: NodeJS.ProcessEnv) {
    const [program = "", ...parameters] = command;
    this.child = spawn(program === "node" ? process.execPath : program, parameters, {
      cwd: root,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const keep = (chunk: Buffer) => {
      this.output = (this.output + chunk.toString()).slice(-20_000);
    };
    this.child.stdout?.on("data", keep);
    this.child.stderr?.on("data", keep);
    this.exited = new Promise((resolve) => this.child.once("close", (code) => resolve(code)));
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async stop(): Promise<number | null> {
    this.child.kill("SIGTERM");
    return this.exited;
  }
}
