/** argon2id with OWASP's parameters (19 MiB, 2 passes, 1 lane: the package's defaults). */
import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import { hash, hashSync, verify } from "@node-rs/argon2";
import { DomainError } from "#domain/errors.ts";

/** Half the cores, so that a rush of sign-ins leaves room for everything else. */
const concurrency = Math.max(1, Math.floor(availableParallelism() / 2));
const waitingLimit = 400;

/** Stands in for the password of nobody: an unknown address costs the same work as a known one. */
export const nobodysHash = hashSync(randomUUID());

let running = 0;
const waiting: (() => void)[] = [];

async function takeTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= concurrency) {
    if (waiting.length >= waitingLimit)
      throw new DomainError("service_unavailable", "Too many people are signing in right now. Try again in a moment", {
        retryAfterSeconds: 3,
      });
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    // The turn is handed on rather than given back, so that nobody overtakes those who wait.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

/** The same password typed on another keyboard may arrive composed differently. */
function normalize(password: string): string {
  return password.normalize("NFKC");
}

/** Throws `service_unavailable` when too many wait already. */
export async function hashPassword(password: string): Promise<string> {
  return takeTurn(() => hash(normalize(password)));
}

/** Throws `service_unavailable` when too many wait already. */
export async function verifyPassword(passwordHash: string, password: string): Promise<boolean> {
  return takeTurn(() => verify(passwordHash, normalize(password)));
}
