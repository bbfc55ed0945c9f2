import { Type } from "typebox";
import { Uuid } from "./common.ts";
import type { RouteContract } from "./route.ts";

/** No limit here: the domain's rules check lengths and give the specification's messages (domain/contact.ts). The request's body limit applies. */
const Text = Type.String();
const Sender = {
  name: Text,
  email: Text,
  message: Text,
  /** A honeypot: people don't see the field. A message that fills it in gets the normal answer and is dropped. */
  website: Type.Optional(Text),
  /** The language of the acknowledgement. Default: the account's language, else Accept-Language. */
  language: Type.Optional(Type.String({ maxLength: 35 })),
};
const Received = Type.Object({ id: Uuid });

export const contactRoutes = {
  "POST /api/contact": {
    summary: "Write to the team. A repeated request with the same Idempotency-Key has no second effect",
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
