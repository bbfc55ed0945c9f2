import type { FastifyPluginAsync } from "fastify";
import type { EventFault } from "./control/routes.ts";
import type { TimedStripe } from "./control/stepper.ts";

/** What the sandbox needs of the stand-in for Stripe. */
export interface StripeStandIn extends TimedStripe {
  plugin: FastifyPluginAsync;
  setEventFaults(faults: EventFault[]): void;
  close(): Promise<void>;
}

export type CreateStripe = (options: {
  databasePath: string;
  origin: URL;
  webhook: { url: URL; secret: string };
  now(): Date;
  log: { info(details: object, message: string): void; warn(details: object, message: string): void };
}) => StripeStandIn;
