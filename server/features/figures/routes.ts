import { figureRoutes as contract, HeadlineLine } from "../../contract/figures.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { sendRows } from "../team/downloads.ts";
import { adminScope } from "../team/service.ts";
import { readFigures, readHeadlineLines, readWork } from "./service.ts";

/** For a signed-in scope. Figures are money, so they are for admins alone. */
export function figureRoutes(deps: Pick<Deps, "db" | "clock" | "models" | "config" | "switches">): Routes {
  return adminScope(deps, [
    async (app) => {
      app.get("/api/admin/figures", { schema: contract["GET /api/admin/figures"] }, async ({ query }) => readFigures(deps, query));
      app.get("/api/admin/figures.csv", { schema: contract["GET /api/admin/figures.csv"] }, async (request, reply) =>
        sendRows({ deps, request, reply, list: "figures" }, HeadlineLine, await readHeadlineLines(deps, request.query)),
      );
      app.get("/api/admin/work", { schema: contract["GET /api/admin/work"] }, async () => readWork(deps));
    },
  ]);
}
