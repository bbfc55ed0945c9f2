import { Type } from "typebox";
import { Uuid } from "./common.ts";
import type { RouteContract } from "./route.ts";

/** Measured by the domain's rules (domain/contact.ts), whose messages the specification gives; the body's limit bounds them here. */
const Text = Type.String();
const Sender = {
  name: Text,
  email: Text,
  message: Text,
  /** A trap for robots: no person sees the field, and what fills it in is answered and dropped. */
  website: Type.Optional(Text),
  /** Of the acknowledgement; without it the person's own, or what Accept-Language asks for. */
  language: Type.Optional(Type.String({ maxLength: 35 })),
};
const Received = Type.Object({ id: Uuid });

export const contactRoutes = {
  "POST /api/contact": {
    summary: "Write to the team. Sent again under the same Idempotency-Key, nothing happens twice",
    headers: Type.Object({ "idempotency-key": Uuid }),
    body: Type.Object({ ...Sender, category: Text, subject: Type.Optional(Text) }, { additionalProperties: false }),
    response: { 202: Received },
  },
  "POST /api/functions/send-contact-email": {
    summary: "Feedback to the team (spec §7): category 'feedback', subject 'General Feedback from {name}'. Idempotency-Key optional",
    headers: Type.Object({ "idempotency-key": Type.Optional(Uuid) }),
    body: Type.Object({ ...Sender, category: Type.Literal("feedback"), subject: Type.Optional(Text) }, { additionalProperties: false }),
    response: { 202: Received },
  },
} as const satisfies Record<string, RouteContract>;
