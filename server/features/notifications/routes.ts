import { notificationRoutes as contract } from "../../contract/notifications.ts";
import type { Deps } from "../../deps.ts";
import type { App, Routes } from "../../http/app-type.ts";
import { viewerOf } from "../../http/viewer.ts";
import { choose, readChoices, unsubscribe } from "./choices.ts";
import { unsubscribePage } from "./render.ts";

/** For a signed-in scope. */
export function notificationRoutes({ db }: Pick<Deps, "db">): Routes {
  return async (app) => {
    app.get("/api/account/notifications", { schema: contract["GET /api/account/notifications"] }, async (request) =>
      readChoices(db, viewerOf(request).userId),
    );
    app.patch("/api/account/notifications", { schema: contract["PATCH /api/account/notifications"] }, async (request) =>
      choose(db, viewerOf(request).userId, request.body),
    );
  };
}

const bodyLimit = 16 * 1024;

async function registerUnsubscribe(app: App, deps: Pick<Deps, "config" | "db">): Promise<void> {
  // A mailbox sends a form, our page JSON (RFC 8058 §3.1). The token says everything.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, async () => undefined);
  app.post("/api/notifications/unsubscribe", { schema: contract["POST /api/notifications/unsubscribe"], bodyLimit }, async (request) =>
    unsubscribe(deps, request.query.token),
  );
  // A mailbox without one-click opens the address. Programs that look through mails do too, so this alone must change nothing (RFC 8058 §2).
  app.get("/api/notifications/unsubscribe", { schema: { hide: true } }, async (request, reply) => {
    const { token = "" } = request.query as { token?: string };
    return reply.redirect(unsubscribePage(deps.config, token), 303);
  });
}

/** For a public scope. */
export function unsubscribeRoutes(deps: Pick<Deps, "config" | "db">): Routes {
  return async (app) => {
    await app.register(async (scope: App) => registerUnsubscribe(scope, deps));
  };
}
