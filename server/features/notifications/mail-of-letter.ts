import { sql } from "kysely";

/** The mail of a dead letter `d`; null if its payload is damaged, as that of any letter may be. */
export const mailOfLetter = sql`case when pg_input_is_valid(d.payload ->> 'mailId', 'uuid') then (d.payload ->> 'mailId')::uuid end`;
