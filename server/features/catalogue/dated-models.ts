/**
 * Names of models with a date, such as `name-20261101`. We ask some models by the name alone, and the provider answers with the newest
 * dated one. Anthropic lists only the dated models; OpenAI lists both.
 */
import type { Model, Provider } from "#domain/models.ts";
import type { ListedModel } from "../../providers/models/model-list.ts";

/** Other providers give their models no dates, or dates that look like versions. */
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
 * What the list says of the model that answers under this name; undefined if it has none. If the name's own entry has no last day, OpenAI
 * may have it at the newest of the dated models, which is the one that answers. The end of an older one changes nothing for us; when the
 * newest ends, the name ends with it, or leads to another model.
 */
export function findListed(provider: Model["provider"], id: string, listed: readonly ListedModel[]): ListedModel | undefined {
  const own = listed.find((each) => each.id === id);
  const dated = listed.filter((each) => each.id !== id && splitDate(provider, each.id).name === id);
  // The names differ in their dates alone.
  const newest = dated.toSorted((one, other) => (one.id < other.id ? -1 : 1)).at(-1);
  if (!own) return newest;
  return own.shutdownDate === null && newest ? { ...own, shutdownDate: newest.shutdownDate } : own;
}
