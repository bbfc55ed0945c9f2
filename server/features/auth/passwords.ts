/**
 * Passwords are hashed with argon2id (RFC 9106) under the parameters that OWASP's Password Storage Cheat Sheet recommends: 19 MiB of
 * memory, 2 passes, 1 lane. If they are raised, each password is hashed again when its person next signs in.
 */
import { createHmac, randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import type { Options } from "@node-rs/argon2";
import { hash, hashSync, verify } from "@node-rs/argon2";
import type { KeyHolder } from "../../http/secret-keys.ts";
import { deriveKey } from "../../http/secret-keys.ts";
import { Turns } from "./turns.ts";

/** Half the cores, so that a rush of sign-ins leaves room for everything else. */
const turns = new Turns({ atOnce: Math.max(1, Math.floor(availableParallelism() / 2)), longestWaitMs: 1_500 });

/** Version 0x13 of argon2id, which the package uses by default. `memoryCost` in KiB. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const satisfies Options;
const currentPrefix = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$`;

/** The hash to compare with if there is no person, so that an unknown address takes as much work as a known one. */
export const nobodysHash = hashSync(randomUUID(), parameters);

/** The same password typed on another keyboard may arrive composed differently. */
function normalize(password: string): string {
  return password.normalize("NFKC");
}

const saltBytes = 16;

interface SignUpPassword {
  email: string;
  password: string;
  network: string;
}

async function hashWithSaltOf(secretKey: string, { email, password, network }: SignUpPassword): Promise<string> {
  const salt = createHmac("sha256", deriveKey(secretKey, "sign-up-salt")).update(email).digest().subarray(0, saltBytes);
  return turns.take(network, () => hash(normalize(password), { ...parameters, salt }));
}

/**
 * Hashes the password of a sign-up. The salt is derived from the address, so that the same address and password give the same hash:
 * one hash finds all sign-ups with that password. Networks take turns. Throws `sign_in_busy` with
 * retryAfterSeconds.
 */
export async function hashSignUpPassword({ secretKeys }: KeyHolder, typed: SignUpPassword): Promise<string> {
  return hashWithSaltOf(secretKeys[0], typed);
}

/** The hashes that sign-ups with this address and password may have: one for each key. Throws what hashSignUpPassword throws. */
export async function signUpPasswordHashes({ secretKeys }: KeyHolder, typed: SignUpPassword): Promise<string[]> {
  return Promise.all(secretKeys.map((secretKey) => hashWithSaltOf(secretKey, typed)));
}

/** Networks take turns. Throws `sign_in_busy` with retryAfterSeconds. */
export async function verifyPassword(network: string, passwordHash: string, password: string): Promise<boolean> {
  return turns.take(network, () => verify(passwordHash, normalize(password)));
}

/** Hashes a person's new password. Networks take turns. Throws `sign_in_busy` with retryAfterSeconds. */
export async function hashPassword(network: string, password: string): Promise<string> {
  return turns.take(network, () => hash(normalize(password), parameters));
}

/** Whether the hash was made with other parameters than today's. */
export function isOutdated(passwordHash: string): boolean {
  return !passwordHash.startsWith(currentPrefix);
}
