import type { Context } from "./context.ts";
import { invalidParameter, referenceMissing } from "./errors.ts";
import type { Kind, Kinds } from "./kinds.ts";
import type { Parameters } from "./parameters.ts";
import type { Filter, Page } from "./store.ts";

export interface ApiCall {
  context: Context;
  /** The id in the address, or "" if it has none. */
  id: string;
  parameters: Parameters;
}

export interface ApiRoute {
  method: "GET" | "POST" | "DELETE";
  /** A route in Fastify's notation. */
  url: string;
  handle(call: ApiCall): object;
}

export interface List<Item> {
  object: "list";
  data: Item[];
  has_more: boolean;
  url: string;
}

export function listOf<Item>(data: Item[], url: string, hasMore = false): List<Item> {
  return { object: "list", data, has_more: hasMore, url };
}

export function readPage(parameters: Parameters): Page {
  const startingAfter = parameters.text("starting_after") ?? undefined;
  const endingBefore = parameters.text("ending_before") ?? undefined;
  if (startingAfter !== undefined && endingBefore !== undefined)
    throw invalidParameter("You may only specify one of starting_after and ending_before.", "starting_after");
  return { limit: parameters.integer("limit", 1, 100) ?? 10, startingAfter, endingBefore };
}

/** A page of a list that is kept inside another object, in its own order. */
export function pageOf<Item extends { id: string }>(all: readonly Item[], url: string, parameters: Parameters): List<Item> {
  const { limit, startingAfter, endingBefore } = readPage(parameters);
  const indexOf = (id: string, param: string) => {
    const index = all.findIndex((item) => item.id === id);
    if (index === -1) throw referenceMissing("item", id, param);
    return index;
  };
  if (endingBefore !== undefined) {
    const end = indexOf(endingBefore, "ending_before");
    return listOf(all.slice(Math.max(0, end - limit), end), url, end > limit);
  }
  const start = startingAfter === undefined ? 0 : indexOf(startingAfter, "starting_after") + 1;
  return listOf(all.slice(start, start + limit), url, start + limit < all.length);
}

const rangeOperators = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/** `created=…` or `created[gte]=…`, Unix seconds. */
function createdFilters(parameters: Parameters): Filter[] {
  if (!parameters.has("created")) return [];
  try {
    const exact = parameters.integer("created");
    return exact === undefined ? [] : [{ path: "created", operator: "=", value: exact }];
  } catch {
    const range = parameters.object("created");
    return Object.entries(rangeOperators).flatMap(([key, operator]) => {
      const value = range?.integer(key);
      return value === undefined ? [] : [{ path: "created", operator, value }];
    });
  }
}

/** Turns each parameter that is present into an equality filter on its JSON path. */
export function equalityFilters(parameters: Parameters, paths: Readonly<Record<string, string>>): Filter[] {
  return Object.entries(paths).flatMap(([key, path]) => {
    const value = parameters.text(key);
    return value === undefined || value === null ? [] : [{ path, operator: "=" as const, value }];
  });
}

export function listRoute<K extends Kind>(kind: K, url: string, filters: (parameters: Parameters, context: Context) => Filter[]): ApiRoute {
  return {
    method: "GET",
    url,
    handle: ({ context, parameters }) => {
      const page = readPage(parameters);
      const conditions = [...createdFilters(parameters), ...filters(parameters, context)];
      const { data, hasMore } = context.store.page<K>(kind, conditions, page);
      return listOf<Kinds[K]>(data, url, hasMore);
    },
  };
}

export function retrieveRoute(kind: Kind, url: string): ApiRoute {
  return {
    method: "GET",
    url: `${url}/:id`,
    handle: ({ context, id }) => context.store.get(kind, id),
  };
}
