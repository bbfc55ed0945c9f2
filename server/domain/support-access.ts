/** A person lets the team read their conversations, to be helped (docs/decisions/0095). */
import { dayMs } from "./clock.ts";

/** For how long it can be given. PostgreSQL refuses more than the longest. */
export const supportAccessDays = [1, 7] as const;
export type SupportAccessDays = (typeof supportAccessDays)[number];

/** The team asks a person at most this often. */
export const askForAccessAgainMs = dayMs;
/** A request is shown to the person for this long. */
export const accessRequestMs = 7 * dayMs;
/** How many messages are read at once: the answer, and those before it. */
export const readAtOnce = 20;
