/** A cursor is an opaque text that says where a page of a list ended. The caller sends it back to get the next page. */
import { DomainError } from "#domain/errors.ts";

/** `parts` must not contain spaces. */
export function toCursor(...parts: readonly string[]): string {
  return Buffer.from(parts.join(" ")).toString("base64url");
}

/** Throws `validation_failed` if `parse` returns undefined for the cursor's parts. */
export function parseCursor<Place>(cursor: string, parse: (parts: readonly string[]) => Place | undefined): Place {
  const place = parse(Buffer.from(cursor, "base64url").toString("latin1").split(" "));
  if (place !== undefined) return place;
  const message = "The cursor is not valid";
  throw new DomainError("validation_failed", message, { fields: [{ field: "cursor", message }] });
}
