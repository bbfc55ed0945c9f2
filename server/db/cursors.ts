/** Where a page of a list ended, as a text that the caller hands back for the next page. */
import { DomainError } from "#domain/errors.ts";

/** `parts` hold no blanks. */
export function toCursor(...parts: readonly string[]): string {
  return Buffer.from(parts.join(" ")).toString("base64url");
}

/** Throws `validation_failed` where `parse` finds no place in the cursor's parts. */
export function parseCursor<Place>(cursor: string, parse: (parts: readonly string[]) => Place | undefined): Place {
  const place = parse(Buffer.from(cursor, "base64url").toString("latin1").split(" "));
  if (place !== undefined) return place;
  const message = "The cursor is not one of ours";
  throw new DomainError("validation_failed", message, { fields: [{ field: "cursor", message }] });
}
