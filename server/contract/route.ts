import type { Static, TSchema } from "typebox";

/** The request and response of one HTTP call. Refusals are always `application/problem+json` (http/problem.ts). */
export interface RouteContract {
  summary: string;
  body?: TSchema;
  params?: TSchema;
  querystring?: TSchema;
  headers?: TSchema;
  response: Record<number, TSchema>;
}

type Part<R, K extends string> = R extends { [P in K]: infer S extends TSchema } ? Static<S> : undefined;
type Success<R> = R extends { response: infer Responses }
  ? { [S in keyof Responses]: Responses[S] extends TSchema ? Static<Responses[S]> : never }[keyof Responses]
  : never;

/** The types of one call, derived from its contract. */
export interface CallTypes<R> {
  body: Part<R, "body">;
  params: Part<R, "params">;
  querystring: Part<R, "querystring">;
  result: Success<R>;
}

/** From `{"POST /api/auth/sign-in": {…}}` to the types of each call, under the same names, for the client's typed `api`. */
export type CallsOf<Routes extends Record<string, RouteContract>> = { [Name in keyof Routes]: CallTypes<Routes[Name]> };
