import { timingSafeEqual } from "node:crypto";
import { DomainError } from "#domain/errors.ts";
import { sandboxClockRoutes } from "../../contract/clock.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { moveClock, readClock } from "./service.ts";

function sameText(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The format allows a leap second, which our clocks can't represent. */
function readInstant(text: string): Date {
  const instant = new Date(text);
  if (!Number.isNaN(instant.getTime())) return instant;
  const message = "There is no such instant";
  throw new DomainError("validation_failed", message, { fields: [{ field: "now", message }] });
}

/** Lets the sandbox move business time. Registered only while the sandbox is on; a call needs the sandbox's token. */
export function clockRoutes(deps: Deps, token: string): Routes {
  return async (app) => {
    app.addHook("onRequest", async (request) => {
      if (!sameText(request.headers.authorization ?? "", `Bearer ${token}`))
        throw new DomainError("unauthenticated", "Only the sandbox may do this");
    });
    app.get("/api/sandbox/clock", { schema: sandboxClockRoutes["GET /api/sandbox/clock"] }, async () => readClock(deps.db));
    app.put("/api/sandbox/clock", { schema: sandboxClockRoutes["PUT /api/sandbox/clock"] }, async (request) =>
      moveClock(deps.db, readInstant(request.body.now)),
    );
  };
}
