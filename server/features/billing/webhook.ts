/** Stripe's webhook verifies the raw body, writes the event and answers. The worker does everything else. */
import { DomainError } from "#domain/errors.ts";
import type { Deps } from "../../deps.ts";
import { faultPoint } from "../../fault-points.ts";
import type { Routes } from "../../http/app-type.ts";
import type { Payments } from "../../providers/stripe.ts";
import type { IncomingEvent } from "./inbox.ts";
import { createInbox } from "./inbox.ts";

const bodyLimit = 1024 * 1024;
const toleranceSeconds = 300;
/** How far Stripe's clock may be ahead of ours. Synchronised clocks still differ a little. */
const clockSkewSeconds = 2;

function refuse(): DomainError {
  return new DomainError("invalid_signature", "The signature does not match the request");
}

/** When the signature was made, in Unix seconds. We parse it ourselves, because the SDK reads "t=1x" as 1 and accepts times in the future. */
function signedAt(header: string): number | undefined {
  const instants = header.split(",").filter((part) => part.startsWith("t="));
  const instant = instants.length === 1 ? /^t=(\d{1,12})$/.exec(instants[0] ?? "")?.[1] : undefined;
  return instant === undefined ? undefined : Number(instant);
}

function isSignedWith(payments: Payments, body: Buffer, header: string, secret: string): boolean {
  try {
    return payments.webhooks.signature?.verifyHeader(body, header, secret, toleranceSeconds) === true;
  } catch {
    return false;
  }
}

/** Throws `invalid_signature` unless one of the secrets signed exactly this body within the last 300 s of wall time. */
function verifySignature(deps: Pick<Deps, "payments" | "config">, body: unknown, header: unknown): Buffer {
  if (!Buffer.isBuffer(body) || body.length === 0 || typeof header !== "string") throw refuse();
  const instant = signedAt(header);
  if (instant === undefined || instant > Date.now() / 1000 + clockSkewSeconds) throw refuse();
  const { webhookSecrets } = deps.config.stripe;
  if (!webhookSecrets.some((secret) => secret.trim() !== "" && isSignedWith(deps.payments, body, header, secret))) throw refuse();
  return body;
}

/** JSON may contain characters that PostgreSQL's jsonb can't store: U+0000 and lone surrogates, both written as escapes. */
const unstorableEscape = /\\u(0000|d[89a-f])/i;

function storableText(text: string): string {
  return text.replaceAll("\u0000", "\uFFFD").toWellFormed();
}

function storable(_key: string, value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storableText(key), item]));
}

function isIdentifier(value: unknown): value is string {
  return typeof value === "string" && /^[\w.-]{1,255}$/.test(value);
}

/** Whole seconds, up to the year 2286. */
function isUnixTime(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 1e10;
}

/** Throws `invalid_json` if the signed body is not an event. */
function readEvent(body: Buffer): IncomingEvent {
  const text = body.toString("utf8");
  let event: {
    id?: unknown;
    type?: unknown;
    livemode?: unknown;
    created?: unknown;
    data?: { object?: { id?: unknown } | null } | null;
  } | null;
  try {
    event = JSON.parse(text);
  } catch {
    throw new DomainError("invalid_json", "The body is not JSON");
  }
  const { id, type, livemode, created, data } = event ?? {};
  if (!isIdentifier(id) || !isIdentifier(type) || typeof livemode !== "boolean") {
    throw new DomainError("invalid_json", "The body is not an event");
  }
  const objectId = data?.object?.id;
  const payload = unstorableEscape.test(text) ? JSON.stringify(event, storable) : text;
  return { id, type, livemode, objectId: isIdentifier(objectId) ? objectId : null, created: isUnixTime(created) ? created : null, payload };
}

export function webhookRoutes(deps: Pick<Deps, "payments" | "config" | "pool">): Routes {
  return async (parent) => {
    // This has a scope of its own, in which bodies are not parsed, because the signature covers the bytes.
    await parent.register(async (app) => {
      const record = createInbox(deps.pool, deps.config.stripe.livemode);
      app.removeAllContentTypeParsers();
      app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit }, (_request, body, done) => done(null, body));
      app.post("/api/stripe/webhook", { bodyLimit }, async (request) => {
        const body = verifySignature(deps, request.body, request.headers["stripe-signature"]);
        await record(readEvent(body));
        faultPoint("webhook-stored");
        return { received: true };
      });
    });
  };
}
