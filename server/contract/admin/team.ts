import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import { NoBody, NoContent, Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { tablePage, tableQuery } from "../tables.ts";

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Address = Type.String({ minLength: 3, maxLength: 254 });

export const TeamRole = Type.Union([Type.Literal("support"), Type.Literal("admin")]);
const Role = Type.Union([Type.Literal("user"), TeamRole]);
/** Why a team member does something. Goes into the audit log. */
export const Reason = Type.String({ minLength: 5, maxLength: 500, pattern: "\\S" });

export const TeamMember = Type.Object({
  id: Uuid,
  email: Type.String(),
  name: orNull(Type.String()),
  role: TeamRole,
  hasSecondFactor: Type.Boolean(),
  /** ADMIN_EMAILS has the address: the role comes back at the next sign-in. */
  isNamed: Type.Boolean(),
  lastSignInAt: orNull(Timestamp),
});
export type TeamMember = Static<typeof TeamMember>;

const TeamQuery = tableQuery(Type.Union([Type.Literal("email"), Type.Literal("lastSignIn")]), { role: Type.Optional(TeamRole) });
export type TeamQuery = Static<typeof TeamQuery>;

export const SetRole = Type.Object(
  {
    email: Address,
    /** The role the person had when the caller looked. */
    was: Role,
    role: Role,
    reason: Reason,
  },
  { additionalProperties: false },
);
export type SetRole = Static<typeof SetRole>;

export const AuditRow = Type.Object({
  id: Uuid,
  at: Timestamp,
  action: Type.String(),
  /** Who did it; null: the person has gone, the operator did it, or nobody knows who. */
  actorId: orNull(Uuid),
  actorEmail: orNull(Type.String()),
  subjectId: orNull(Uuid),
  subjectEmail: orNull(Type.String()),
  details: Type.Record(Type.String(), Type.Unknown()),
  reason: orNull(Type.String()),
  network: orNull(Type.String()),
});
export type AuditRow = Static<typeof AuditRow>;

const auditFilter = {
  action: Type.Optional(Type.String({ maxLength: 60 })),
  /** The address of who did it. */
  by: Type.Optional(Address),
  /** The address of the person it was done to. */
  about: Type.Optional(Address),
};
export interface AuditFilter {
  action?: string;
  by?: string;
  about?: string;
}
const AuditQuery = tableQuery(Type.Literal("time"), auditFilter);

/** For the team. Others get `not_found`; in production a team member without a second factor gets `second_factor_needed`. */
export const adminRoutes = {
  "GET /api/admin/me": {
    summary: "For the team: the caller's role",
    response: { 200: Type.Object({ role: TeamRole }) },
  },
  "GET /api/admin/team": {
    summary: "For the team: who is of it",
    querystring: TeamQuery,
    response: { 200: tablePage(TeamMember) },
  },
  "GET /api/admin/team.csv": {
    summary: "For the team: the same as CSV",
    querystring: TeamQuery,
    response: { 200: Type.Any({ description: "text/csv" }) },
  },
  "PUT /api/admin/team": {
    summary: "For admins: give somebody a role, or take it. May answer `step_up_required`, `last_admin`, `named_admin`, `conflict`",
    body: SetRole,
    response: { 204: NoContent },
  },
  "GET /api/admin/audit": {
    summary: "For the team: what was done, by whom and why, the newest first",
    querystring: AuditQuery,
    response: { 200: tablePage(AuditRow) },
  },
  "GET /api/admin/audit.csv": {
    summary: "For the team: the same as CSV, every row that matches",
    querystring: AuditQuery,
    response: { 200: Type.Any({ description: "text/csv" }) },
  },
  "POST /api/functions/verify-admin": {
    summary: "Whether the person is an admin (spec §6), and which role of the team they have",
    body: NoBody,
    response: { 200: Type.Object({ isAdmin: Type.Boolean(), team: Type.Union([TeamRole, Type.Null()]) }) },
  },
} as const satisfies Record<string, RouteContract>;
