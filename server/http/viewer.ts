/** Identifies the caller. The scope in which a route is registered decides what the caller needs, never the route's address. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { DomainError } from "#domain/errors.ts";
import { stepUpMs } from "#domain/periods.ts";
import type { Role, TeamRole } from "#domain/team.ts";
import type { Entitling } from "../db/types-billing.ts";
import type { Routes } from "./app-type.ts";

export interface Viewer {
  userId: string;
  /** The sign-in (refresh-token family) this access token belongs to. */
  sessionId: string;
  /** When the person last showed a factor in this sign-in, by wall time; 1970 for an access token whose successor is in use. */
  provedAt: Date;
  role: Role;
  /** What decides what the person may use, read together with the session because the start of an answer needs both at once. */
  entitling: Entitling;
}

/** Checks an access token against the database, so that a ban, a lost role or a sign-out takes effect at the next call. Null: not valid. */
export type ReadViewer = (accessToken: string) => Promise<Viewer | null>;

const viewers = new WeakMap<FastifyRequest, Viewer>();

function bearerToken(request: FastifyRequest): string | undefined {
  return /^Bearer ([\w.~+/=-]{1,4000})$/i.exec(request.headers.authorization ?? "")?.[1];
}

/** Responses of the API are only for the caller, so they must not be cached. A route whose response may be cached says so itself. */
function forbidStoring(reply: FastifyReply): void {
  reply.header("cache-control", "no-store");
}

/** A scope whose routes need a signed-in person; others get a 401. */
export function signedInScope(readViewer: ReadViewer, routes: readonly Routes[]): Routes {
  return async (app) => {
    app.addHook("onRequest", async (request, reply) => {
      forbidStoring(reply);
      const token = bearerToken(request);
      const viewer = token === undefined ? null : await readViewer(token);
      if (!viewer) throw new DomainError("unauthenticated", "Sign in to continue");
      viewers.set(request, viewer);
    });
    for (const each of routes) await each(app);
  };
}

/**
 * A scope inside a signed-in one, for dangerous acts: the person must have shown a factor in this sign-in a short while ago. Otherwise
 * they get `step_up_required`, and the client asks for one and repeats the call.
 */
export function steppedUpScope(routes: readonly Routes[]): Routes {
  return async (app) => {
    await app.register(async (inner: typeof app) => {
      inner.addHook("onRequest", async (request) => {
        if (Date.now() - viewerOf(request).provedAt.getTime() > stepUpMs)
          throw new DomainError("step_up_required", "Confirm that it is you to continue");
      });
      for (const each of routes) await each(inner);
    });
  };
}

/** A scope inside a signed-in one, for these roles. For others there is nothing at its addresses. `admit` throws what else is in the way. */
export function roleScope(roles: readonly TeamRole[], admit: (viewer: Viewer) => Promise<void>, routes: readonly Routes[]): Routes {
  return async (app) => {
    await app.register(async (inner: typeof app) => {
      inner.addHook("onRequest", async (request) => {
        const viewer = viewerOf(request);
        if (!(roles as readonly Role[]).includes(viewer.role)) throw new DomainError("not_found", "There is nothing here");
        await admit(viewer);
      });
      for (const each of routes) await each(inner);
    });
  };
}

/** A scope that is open to everyone. Its routes know the caller if the token is valid; with an invalid token the caller counts as not signed in. */
export function publicScope(readViewer: ReadViewer, routes: readonly Routes[]): Routes {
  return async (app) => {
    app.addHook("onRequest", async (request, reply) => {
      forbidStoring(reply);
      const token = bearerToken(request);
      const viewer = token === undefined ? null : await readViewer(token);
      if (viewer) viewers.set(request, viewer);
    });
    for (const each of routes) await each(app);
  };
}

/** The caller of a route in a signed-in scope. */
export function viewerOf(request: FastifyRequest): Viewer {
  const viewer = viewers.get(request);
  if (!viewer) throw new Error("route registered outside a signed-in scope");
  return viewer;
}

export function optionalViewerOf(request: FastifyRequest): Viewer | undefined {
  return viewers.get(request);
}
