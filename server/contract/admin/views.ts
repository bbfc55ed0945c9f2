import type { Static } from "typebox";
import { Type } from "typebox";
import { listNames, viewLimits } from "../../domain/tables.ts";
import { NoContent, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";

const List = Type.Enum([...listNames]);
const Name = Type.String({ minLength: 1, maxLength: viewLimits.nameMax, pattern: "\\S" });

export const SavedView = Type.Object({
  id: Uuid,
  name: Type.String(),
  /** The query of the list's address (viewOf in server/domain/tables.ts). */
  search: Type.String(),
});
export type SavedView = Static<typeof SavedView>;

const closed = { additionalProperties: false };
const views = { 200: Type.Object({ views: Type.Array(SavedView) }) };
const View = Type.Object({ viewId: Uuid });

const NewView = Type.Object({ list: List, name: Name, search: Type.String({ minLength: 1, maxLength: viewLimits.searchMax }) }, closed);
export type NewView = Static<typeof NewView>;

/** For the team: each member has their own views. Others get `not_found`, and so does a member who names a colleague's view. */
export const adminViewRoutes = {
  "GET /api/admin/views": {
    summary: "For the team: the views of a list that the caller saved, by name",
    querystring: Type.Object({ list: List }, closed),
    response: views,
  },
  "POST /api/admin/views": {
    summary:
      "For the team: save a view of a list; one of that name is replaced. Returns them all. May answer `conflict` if there are too many",
    body: NewView,
    response: views,
  },
  "PATCH /api/admin/views/:viewId": {
    summary: "For the team: rename a view. May answer `conflict` if another one has the name",
    params: View,
    body: Type.Object({ name: Name }, closed),
    response: views,
  },
  "DELETE /api/admin/views/:viewId": {
    summary: "For the team: delete a view",
    params: View,
    response: { 204: NoContent },
  },
} as const satisfies Record<string, RouteContract>;
