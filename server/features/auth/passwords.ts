/** argon2id with OWASP's parameters (19 MiB, 2 passes, 1 lane: the package's defaults). */
import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import { hash, hashSync, verify } from "@node-rs/argon2";
import { Turns } from "./turns.ts";

/** Half the cores, so that a rush of sign-ins leaves room for everything else. */
const turns = new Turns({ atOnce: Math.max(1, Math.floor(availableParallelism() / 2)), longestWaitMs: 1_500 });

/** Stands in for the password of nobody: an unknown address costs the same work as a known one. */
export const nobodysHash = hashSync(randomUUID());

/** The same password typed on another keyboard may arrive composed differently. */
function normalize(password: string): string {
  return password.normalize("NFKC");
}

/** In turns between networks. Throws `sign_in_busy` with retryAfterSeconds. */
export async function hashPassword(network: string, password: string): Promise<string> {
  return turns.take(network, () => hash(normalize(password)));
}

/** In turns between networks. Throws `sign_in_busy` with retryAfterSeconds. */
export async function verifyPassword(network: string, passwordHash: string, password: string): Promise<boolean> {
  return turns.take(network, () => verify(passwordHash, normalize(password)));
}
