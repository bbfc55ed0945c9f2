/**
 * Names of models with a date. We ask some models by a name without one, and the provider answers with the newest of those that are called so
 * and have a date behind it. Anthropic lists only those with a date; OpenAI lists both.
 */
import type { Model, Provider } from "#domain/models.ts";
import type { ListedModel } from "../../providers/models/model-list.ts";

/** The others give their models no dates, or some that can't be told from a version. */
const datesBehindNames: Readonly<Partial<Record<Provider, RegExp>>> = {
  anthropic: /-(20\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))$/,
  openai: /-(20\d{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))$/,
};

/** The name without its date, and the date; null if it has none. */
export function splitDate(provider: Model["provider"], id: string): { name: string; date: string | null } {
  const found = (datesBehindNames as Readonly<Record<string, RegExp>>)[provider]?.exec(id);
  return found?.[1] === undefined ? { name: id, date: null } : { name: id.slice(0, found.index), date: found[1] };
}

/**
 * What the list says of the model that answers under this name; undefined if it has none. Of a name whose own entry names no day, OpenAI's may
 * lack it: then the day is that of the newest of its dated models, because that is the one that answers. When an older one ends, nothing changes
 * for who asks by the name; when the newest ends, what they get ends with it, or becomes another model.
 */
export function findListed(provider: Model["provider"], id: string, listed: readonly ListedModel[]): ListedModel | undefined {
  const own = listed.find((each) => each.id === id);
  const dated = listed.filter((each) => each.id !== id && splitDate(provider, each.id).name === id);
  // The names differ in their dates alone.
  const newest = dated.toSorted((one, other) => (one.id < other.id ? -1 : 1)).at(-1);
  if (!own) return newest;
  return own.shutdownDate === null && newest ? { ...own, shutdownDate: newest.shutdownDate } : own;
}
