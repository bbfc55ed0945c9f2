/** The models that a provider serves now, as its list says: `GET /models`, which all of them have in OpenAI's form. */
import type { Model } from "#domain/models.ts";
import { Outage } from "../../failures.ts";
import type { ModelAddress } from "./protocol.ts";
import { fieldsOf, listOf } from "./response-stream.ts";

export interface ListedModel {
  id: string;
  /** The day on which it ends, where the provider says so in its list. OpenAI does. */
  shutdownDate: string | null;
}

const timeoutMs = 20_000;

/** How a provider wants to be asked for its list. */
export interface ListForm {
  query: string;
  headers(apiKey: string): Record<string, string>;
}

export const openAiListForm: ListForm = { query: "", headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }) };

/** The provider does not accept our key. */
export class KeyRefused extends Outage {
  override readonly name = "KeyRefused";
}

/** Undefined if the provider has no list. Throws an Outage if it can't be read now. */
export async function listModels(
  provider: Model["provider"],
  { apiKey, baseUrl }: ModelAddress,
  { query, headers }: ListForm,
  send: typeof fetch,
): Promise<ListedModel[] | undefined> {
  const address = `${baseUrl.replace(/\/$/, "")}/models${query}`;
  const response = await send(address, { headers: headers(apiKey), signal: AbortSignal.timeout(timeoutMs) });
  if (response.status === 404) return undefined;
  if (response.status === 401 || response.status === 403)
    throw new KeyRefused(`${provider} refused our key for its list of models with ${response.status}`);
  if (!response.ok) throw new Outage(`${provider} answered its list of models with ${response.status}`);
  const models = listOf(fieldsOf(await response.json()).data);
  return models.flatMap(({ id, shutdown_date: shutdownDate }) => {
    if (typeof id !== "string") return [];
    // Google writes models/gemini-….
    return [{ id: id.replace(/^models\//, ""), shutdownDate: typeof shutdownDate === "string" ? shutdownDate : null }];
  });
}
