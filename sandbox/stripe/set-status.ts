/** Sets a status that no payment leads to: an operator pauses a subscription, or Stripe is set up to mark it unpaid and not to end it. */
import type { FastifyInstance } from "fastify";
import type { Context } from "./context.ts";
import { missingParameter } from "./errors.ts";
import { saveChange } from "./events.ts";
import { sendError } from "./http-pages.ts";
import type { Subscription } from "./wire.ts";

export function mountStatus(server: FastifyInstance, context: Context, afterChange: () => void): void {
  server.post<{ Params: { id: string }; Body: { status?: string } }>("/sandbox/subscriptions/:id/status", (request, reply) => {
    try {
      const { status } = request.body;
      if (status === undefined) throw missingParameter("status");
      const changed = context.store.transaction(() => {
        const subscription = context.store.reference("subscription", request.params.id, "subscription");
        // Any text, because Stripe may add a status that we don't know.
        const next = { ...subscription, status: status as Subscription["status"] };
        return saveChange(context, "subscription", "customer.subscription.updated", next);
      });
      afterChange();
      return reply.send(changed);
    } catch (error) {
      return sendError(reply, error, false);
    }
  });
}
