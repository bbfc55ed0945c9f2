/**
 * Sends queued forms: at start, when the connection comes back, and at growing intervals while the server can't be reached. A
 * lock ensures that one tab at a time sends. Every attempt of a form uses the same Idempotency-Key, so that a lost answer, a
 * closed tab or a browser without locks never produces a second message.
 */
import { ApiProblem, api, NetworkProblem } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import type { FormName } from "./form-drafts.ts";
import type { OutgoingForm, QueuedForm } from "./form-queue.ts";
import { listQueuedForms, settleSentForm, writeQueuedForm } from "./form-queue.ts";
import type { Kept } from "./store.ts";

export interface FormOutcome {
  id: string;
  form: FormName;
  owner: string | null;
  outcome: "sent" | "refused";
}

const sendTimeoutMs = 20_000;
const firstRetryMs = 5_000;
const longestRetryMs = 15 * 60_000;
const channelName = "forms";

const listeners = new Set<(outcome: FormOutcome) => void>();
let channel: BroadcastChannel | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Calls the listener with the result of every queued form, in every tab. */
export function onFormOutcome(listener: (outcome: FormOutcome) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(outcome: FormOutcome): void {
  for (const listener of listeners) listener(outcome);
}

/** Makes one attempt. Throws ApiProblem if the server refuses and NetworkProblem if it can't be reached. */
async function sendForm({ id, form, owner, fields, website, language }: OutgoingForm): Promise<void> {
  const { subject, category, ...sender } = fields;
  const headers = { "idempotency-key": id };
  const signal = AbortSignal.timeout(sendTimeoutMs);
  const shared = { ...sender, website, language };
  // If another person is signed in now, the form must not be sent in their name.
  const anonymous = owner !== (sessionStore.getState().user?.id ?? null);
  if (form === "feedback") {
    await api("POST /api/functions/send-contact-email", { headers, signal, anonymous, body: { ...shared, category: "feedback", subject } });
    return;
  }
  const body = { ...shared, category, ...(subject.trim() === "" ? {} : { subject }) };
  await api("POST /api/contact", { headers, signal, anonymous, body });
}

/** True if another attempt can't help, because the server has refused the form's content. */
function isRefusal(error: unknown): error is ApiProblem {
  if (!(error instanceof ApiProblem)) return false;
  return error.status >= 400 && error.status < 500 && ![401, 408, 425, 429].includes(error.status);
}

async function deliver(form: QueuedForm): Promise<"done" | "later"> {
  const told = { id: form.id, form: form.form, owner: form.owner };
  try {
    await sendForm(form);
    await settleSentForm(form);
    announce({ ...told, outcome: "sent" });
    return "done";
  } catch (error) {
    if (isRefusal(error)) {
      await writeQueuedForm({ ...form, refusal: { code: error.code, fields: error.fields } });
      announce({ ...told, outcome: "refused" });
      return "done";
    }
    const backOffMs = Math.min(firstRetryMs * 2 ** form.attempts, longestRetryMs);
    const askedForMs = error instanceof ApiProblem ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    await writeQueuedForm({ ...form, attempts: form.attempts + 1, dueAtMs: Date.now() + Math.max(backOffMs, askedForMs) });
    return "later";
  }
}

function announce(outcome: FormOutcome): void {
  channel?.postMessage(outcome);
  tell(outcome);
}

/** Does the work while no other tab does work of this name. */
export async function alone(name: string, work: () => Promise<void>): Promise<void> {
  // Browsers offer locks on secure pages only. Elsewhere the Idempotency-Key alone prevents a second message.
  if (!("locks" in navigator)) await work();
  else await navigator.locks.request(name, work);
}

/** `overdueOnly` skips forms whose next attempt is not due yet. */
async function flush(overdueOnly: boolean): Promise<void> {
  clearTimeout(timer);
  if (!navigator.onLine) return;
  await alone("form-queue", async () => {
    for (const form of await listQueuedForms()) {
      if (form.refusal || (overdueOnly && form.dueAtMs > Date.now())) continue;
      if ((await deliver(form)) === "later") break;
    }
  });
  const next = (await listQueuedForms()).filter((form) => !form.refusal).map((form) => form.dueAtMs);
  clearTimeout(timer);
  if (next.length > 0) timer = setTimeout(() => void flush(true), Math.max(Math.min(...next) - Date.now(), firstRetryMs));
}

/** Adds a form to the queue. Any result but `kept` means that it is lost when this page is closed. */
async function queueForm(form: OutgoingForm): Promise<Kept> {
  const now = Date.now();
  const kept = await writeQueuedForm({ ...form, queuedAtMs: now, attempts: 0, dueAtMs: now + firstRetryMs, refusal: null });
  void flush(true);
  return kept;
}

/**
 * Sends a form now, or queues it if there is no connection. Throws ApiProblem if the server refuses it, because the writer is
 * still there and can react.
 */
export async function sendOrQueue(form: OutgoingForm): Promise<{ sent: true } | { sent: false; kept: Kept }> {
  // Without a connection, refreshing the token would fail too, but only after a while.
  if (navigator.onLine) {
    try {
      await sendForm(form);
      return { sent: true };
    } catch (error) {
      if (!(error instanceof NetworkProblem)) throw error;
    }
  }
  return { sent: false, kept: await queueForm(form) };
}

/** Call once, at start. Returns a function that stops it. */
export function startFormQueue(): () => void {
  const opened = new BroadcastChannel(channelName);
  opened.onmessage = ({ data }: MessageEvent<FormOutcome>) => tell(data);
  channel = opened;
  const back = () => void flush(false);
  addEventListener("online", back);
  void flush(false);
  return () => {
    removeEventListener("online", back);
    clearTimeout(timer);
    opened.close();
    channel = undefined;
  };
}
