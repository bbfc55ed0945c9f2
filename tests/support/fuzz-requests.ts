/** Makes requests to every route of an OpenAPI document: some valid, most with something wrong. */
import type { InjectOptions } from "fastify";
import type { Random, Schema } from "./fuzz-values.ts";
import { fittingValue, hostileText, hostileValue, pick, spoilText, spoilValue } from "./fuzz-values.ts";

interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: Schema;
}

interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
}

export interface Route {
  method: string;
  path: string;
  parameters: readonly Parameter[];
  body: Schema | undefined;
}

/** What the requests are built from, besides the OpenAPI document. */
export interface Ingredients {
  /** Existing values by the name of the field or parameter, path parameters included. */
  known: Record<string, unknown[]>;
  /** The callers, each with a valid header; several may be of one kind. Read anew for every request, because they may be replaced. */
  callers: readonly Caller[];
  unsoundAuthorizations: readonly string[];
  /** Pictures as they are uploaded. */
  pictures: readonly Buffer[];
  /** An address that nobody may ask. */
  elsewhere: string;
  /** Signs a body as Stripe does. */
  sign(payload: string): string;
}

export interface Caller {
  kind: "user" | "admin";
  authorization: string;
}

/** A request, the route it was made for and who calls it; `caller` is undefined for somebody whose token, if any, is not valid. */
export interface FuzzCall {
  request: FuzzRequest;
  route: string;
  caller: Caller | undefined;
}

/** Each request has a different `remoteAddress`; otherwise the rate limit per address would answer most of them. */
export type FuzzRequest = InjectOptions & { method: NonNullable<InjectOptions["method"]>; url: string; headers: Record<string, string> };

export function routesOf(document: OpenApi): Route[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters ?? [],
      body: Object.values(operation.requestBody?.content ?? {})[0]?.schema,
    })),
  );
}

const hostilePathParts = [
  "",
  "%00",
  "%ff",
  "%",
  "%2e%2e%2f",
  "..",
  "'",
  "%22%3E",
  "a".repeat(101),
  "a".repeat(20_000),
  "%F0%9F%8F%9B",
  "null",
  "0",
  "__proto__",
  "constructor",
];
const hostileQueries = [
  "limit=1&limit=2",
  "limit[]=1",
  "limit[a]=1",
  "limit=",
  "limit=1e999",
  "limit=0x10",
  "limit=-1",
  "limit=1.5",
  "limit=99999999999999999999",
  "cursor=%00",
  "cursor=%ed%a0%80",
  "cursor=%",
  "__proto__[x]=1",
  "constructor=1",
  "&&&===",
  "%",
  "%E0%A4%A",
  "?",
  "a=1".repeat(5_000),
  Array.from({ length: 1_500 }, (_, index) => `p${index}=1`).join("&"),
];
const hostileContentTypes = [
  "",
  "text/plain",
  "application/xml",
  "multipart/form-data",
  "application/x-www-form-urlencoded",
  "application/json; charset=utf-16",
  "application/json;;;",
  "APPLICATION/JSON",
  "application/json, text/html",
  "application/problem+json",
  "/",
  "a".repeat(5_000),
];
const hostileHeaders: Record<string, string>[] = [
  { accept: "application/xml" },
  { accept: "*/*;q=x,,," },
  { "accept-language": "x".repeat(8_000) },
  { origin: "null" },
  { origin: "http://evil.example" },
  { cookie: "language=%00; a; =; __proto__=1" },
  { "x-forwarded-for": "'; drop table users, 999.1.1.1" },
  { "x-forwarded-proto": "javascript" },
  { host: "evil.example:99999" },
  { "user-agent": "\u00ff".repeat(4_000) },
  { "content-length": "99999999999" },
  { "content-length": "-1" },
  { "content-encoding": "gzip" },
  { "transfer-encoding": "chunked" },
  { range: "bytes=9-1" },
  { "if-none-match": '"' },
  { "x-http-method-override": "DELETE" },
  { upgrade: "websocket", connection: "upgrade" },
  { expect: "200-maybe" },
];
const hostileSignatures = ["", "t=1", "t=1,v1=00", "t=x,v1=y", "t=1,t=2,v1=0", "v1=", "t=99999999999999,v1=0", "%00"];
const otherMethods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;

/** Makes one request after the other. The same seed gives the same requests, except for user ids and tokens. */
export class RequestMaker {
  private readonly routes: readonly Route[];
  private readonly random: Random;
  private readonly ingredients: Ingredients;

  constructor(routes: readonly Route[], random: Random, ingredients: Ingredients) {
    this.routes = routes;
    this.random = random;
    this.ingredients = ingredients;
  }

  next(): FuzzCall {
    const { random, ingredients } = this;
    return this.call(this.nextRoute(), random(20) < 15 ? pick(random, ingredients.callers) : undefined);
  }

  /** One request to every route by each of these callers. */
  everyRoute(callers: readonly (Caller | undefined)[]): FuzzCall[] {
    return this.routes.flatMap((route) => callers.map((caller) => this.call(route, caller)));
  }

  private call(route: Route, caller: Caller | undefined): FuzzCall {
    const { random } = this;
    const request: FuzzRequest = {
      method: route.method as FuzzRequest["method"],
      url: this.urlOf(route),
      headers: { ...this.headersOf(route), ...this.authorization(caller) },
      remoteAddress: this.address(),
    };
    if (route.path.endsWith("/webhook")) this.addEvent(request);
    else if (`${route.method} ${route.path}` === "POST /api/files" || (route.method === "PUT" && route.path.endsWith("/avatar")))
      this.addPicture(request);
    else this.addBody(request, route);
    if (random(12) === 0) Object.assign(request.headers, pick(random, hostileHeaders));
    if (random(40) === 0) request.method = pick(random, otherMethods);
    if (random(15) === 0) this.nameElsewhere(request);
    return { request, route: `${route.method} ${route.path}`, caller };
  }

  /** Picks some routes less often: sign-in hashes a password, which is slow; sign-out and DELETE remove what others need. */
  private nextRoute(): Route {
    const route = pick(this.random, this.routes);
    return (/sign-(in|up|out)$/.test(route.path) || route.method === "DELETE") && this.random(4) > 0 ? this.nextRoute() : route;
  }

  private address(): string {
    const part = () => this.random(254) + 1;
    return this.random(5) === 0 ? `2001:db8:${part().toString(16)}:${part().toString(16)}::1` : `10.${part()}.${part()}.${part()}`;
  }

  private authorization(caller: Caller | undefined): Record<string, string> {
    if (caller) return { authorization: caller.authorization };
    return this.random(2) === 0 ? {} : { authorization: pick(this.random, this.ingredients.unsoundAuthorizations) };
  }

  /** Puts the address where a server that fetches what it is given would find it. */
  private nameElsewhere(request: FuzzRequest): void {
    const { elsewhere } = this.ingredients;
    Object.assign(request.headers, { referer: elsewhere, "x-forwarded-host": new URL(elsewhere).host, "x-original-url": elsewhere });
    request.url = request.url.replaceAll(/=[^&]*/g, `=${encodeURIComponent(elsewhere)}`);
    if (typeof request.payload === "string") request.payload = request.payload.replaceAll(/:"[^"]*"/g, `:${JSON.stringify(elsewhere)}`);
  }

  private urlOf(route: Route): string {
    const { random } = this;
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      random(4) === 0 ? pick(random, hostilePathParts) : encodeURIComponent(String(this.fitting(name, { type: "string", format: "uuid" }))),
    );
    const query = route.parameters
      .filter((parameter) => parameter.in === "query" && random(2) === 0)
      .map(({ name, schema }) => {
        const value = random(3) === 0 ? hostileText(random) : String(this.fitting(name, schema));
        return `${name}=${encodeURIComponent(value.toWellFormed())}`;
      });
    if (random(query.length > 0 ? 4 : 25) === 0) query.push(pick(random, hostileQueries));
    const url = query.length > 0 ? `${path}?${query.join("&")}` : path;
    return random(60) === 0 ? url + pick(random, ["/", "//", "/x", ";a=b", "#x", "%00", ".json"]) : url;
  }

  private headersOf(route: Route): Record<string, string> {
    const { random } = this;
    const headers: Record<string, string> = {};
    for (const { name, schema, required } of route.parameters.filter((parameter) => parameter.in === "header")) {
      if (random(12) === 0 || (!required && random(2) === 0)) continue;
      const value = random(6) === 0 ? hostileText(random) : String(this.fitting(name, schema));
      // Node's HTTP parser accepts only Latin-1 without line breaks.
      headers[name] = value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "?");
    }
    return headers;
  }

  private addBody(request: FuzzRequest, route: Route): void {
    const { random } = this;
    if (!route.body) {
      if (random(10) > 0) return;
      request.payload = JSON.stringify(hostileValue(random)) ?? "";
    } else {
      const fitting = this.fitting("body", route.body);
      const roll = random(10);
      const value = roll < 6 ? spoilValue(random, fitting) : fitting;
      const text = JSON.stringify(value) ?? "";
      if (fitting === null && roll >= 6) return;
      request.payload = roll === 6 ? spoilText(random, text) : text;
    }
    request.headers["content-type"] = random(15) === 0 ? pick(random, hostileContentTypes) : "application/json";
    if (request.headers["content-type"] === "") delete request.headers["content-type"];
  }

  /** Adds a picture as the body: whole, cut off, with bytes changed, or something else. */
  private addPicture(request: FuzzRequest): void {
    const { random } = this;
    const picture = Buffer.from(pick(random, this.ingredients.pictures));
    const changes = random(4) === 0 ? 0 : random(8);
    for (let change = 0; change < changes; change += 1) picture[random(picture.length)] = random(256);
    request.payload = random(4) === 0 ? picture.subarray(0, random(picture.length)) : picture;
    request.headers["content-type"] = random(6) === 0 ? pick(random, hostileContentTypes) : pick(random, ["image/png", "image/svg+xml"]);
  }

  /** Adds a Stripe event as the body: its content may be spoiled, and its signature valid, wrong or missing. */
  private addEvent(request: FuzzRequest): void {
    const { random } = this;
    const event = {
      id: `evt_${random(1_000_000)}`,
      type: pick(random, ["invoice.paid", "customer.subscription.updated", "charge.refunded", "made.up"]),
      livemode: random(10) === 0,
      created: 1_760_000_000,
      data: { object: { id: `in_${random(1_000)}`, note: hostileValue(random) } },
    };
    const text = JSON.stringify(random(2) === 0 ? spoilValue(random, event) : event) ?? "";
    request.payload = random(5) === 0 ? spoilText(random, text) : text;
    request.headers["content-type"] = random(15) === 0 ? pick(random, hostileContentTypes) : "application/json; charset=utf-8";
    const signature = random(3) === 0 ? pick(random, hostileSignatures) : this.ingredients.sign(request.payload.toString());
    if (random(20) > 0) request.headers["stripe-signature"] = signature;
  }

  private fitting(name: string, schema: Schema): unknown {
    return fittingValue(this.random, schema, name, this.ingredients.known);
  }
}
