/** Classifies an error, in the same way for API and worker: an outage of another service, a refusal, or a bug of ours. */
import { DomainError, PermanentFailure } from "#domain/errors.ts";

/**
 * outage: PostgreSQL, Redis, Stripe, a model provider or the mail server does not answer or asks us to wait; the same call may be tried again for as
 * long as it takes. refusal: trying again gives the same result. bug: every other error.
 */
export type FailureKind = "outage" | "refusal" | "bug";

/** An outage by its type, where neither a code nor a status tells it. */
export class Outage extends Error {}

/** Another process is doing the same work right now. Leave it to that process, and check again later. */
export class TakenElsewhere extends Outage {
  override readonly name = "TakenElsewhere";
}

/** System errors of Node and of the DNS, nodemailer's own, and PostgreSQL's class 53, insufficient resources. */
const outageCodes =
  /^(ECONN|ETIMEDOUT|EPIPE|ENETUNREACH|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|ESOCKET|ETLS|EDNS|EAUTH|EPROTOCOL|UND_ERR_(CONNECT|SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT)|53)/;
/** Errors of node-postgres's pool and of ioredis that have no code, only a message. */
const outageMessages =
  /^(timeout exceeded when trying to connect|Connection is closed\.|Command timed out|Stream isn't writeable|Reached the max retries per request limit|(LOADING|MASTERDOWN|CLUSTERDOWN|READONLY|TRYAGAIN) )/;
/** Stripe can't be reached, limits our calls, or does not accept our key. */
const outageTypes: ReadonlySet<unknown> = new Set(["StripeConnectionError", "StripeRateLimitError", "StripeAuthenticationError"]);
/** SQLSTATE of a statement that has waited for a lock as long as `lock_timeout` allows. */
export const lockNotAvailable = "55P03";
/** Serialisation failure, deadlock, lock not available. */
const passingStates: ReadonlySet<unknown> = new Set(["40001", "40P01", lockNotAvailable]);
const deepestCause = 5;

export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
}

/** The connection to PostgreSQL broke, during a statement or between two. Some of node-postgres's errors have only a message. */
export function isConnectionLost(error: unknown): boolean {
  if (/^(08|57P0|25P03)/.test(sqlState(error) ?? "")) return true;
  return (
    error instanceof Error && /^(Connection terminated|Query read timeout|Client has encountered a connection error)/.test(error.message)
  );
}

function isOutageOfStripe(type: unknown, statusCode: unknown): boolean {
  if (typeof type !== "string" || !type.startsWith("Stripe")) return false;
  return outageTypes.has(type) || (typeof statusCode === "number" && statusCode >= 500);
}

function isOutageItself(error: object): boolean {
  const { code, name, type, message, statusCode, responseCode } = error as Record<string, unknown>;
  if (isConnectionLost(error) || isOutageOfStripe(type, statusCode)) return true;
  if (typeof code === "string" && outageCodes.test(code)) return true;
  if (typeof message === "string" && outageMessages.test(message)) return true;
  // A 4xx reply of SMTP means "try again later" (RFC 5321 §4.2.1); with greylisting that can take many minutes.
  if (typeof responseCode === "number" && responseCode >= 400 && responseCode < 500) return true;
  return name === "AggregateError" || name === "TimeoutError" || passingStates.has(sqlState(error));
}

export function failureKind(error: unknown): FailureKind {
  if (error instanceof DomainError || error instanceof PermanentFailure) return "refusal";
  if (error instanceof Outage) return "outage";
  // An error of fetch has the reason only in its cause.
  let one = error;
  for (let depth = 0; depth < deepestCause && typeof one === "object" && one !== null; depth += 1) {
    if (isOutageItself(one)) return "outage";
    one = (one as { cause?: unknown }).cause;
  }
  return "bug";
}
