import { catalogue, catalogueAsOf } from "./models.ts";

/** The days, in order, on which what is offered changes, beginning with that of the catalogue itself. */
export const catalogueEditions: readonly string[] = [
  ...new Set([catalogueAsOf, ...catalogue.flatMap(({ from, until }) => (until === undefined ? [from] : [from, until]))]),
]
  .filter((day) => day >= catalogueAsOf)
  .sort();
