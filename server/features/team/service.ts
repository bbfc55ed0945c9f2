/**
 * Who belongs to the team, and which routes that opens (decision 81). The role is read with every call (viewer.ts), so a role that was taken
 * away ends at the next call.
 */
import type { FastifyRequest } from "fastify";
import { DomainError } from "#domain/errors.ts";
import type { TeamRole } from "#domain/team.ts";
import { teamRoles } from "#domain/team.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { roleScope, viewerOf } from "../../http/viewer.ts";
import { selectHasSecond, selectRole } from "./queries.ts";

/** Who acts: a team member, or a person for themselves. */
export interface Clerk {
  userId: string;
  network: string;
}

/** Who makes this call. */
export function clerkOf(request: FastifyRequest): Clerk {
  return { userId: viewerOf(request).userId, network: clientNetwork(request.ip) };
}

function scopeOf(roles: readonly TeamRole[]) {
  return ({ db, config }: Pick<Deps, "db" | "config">, routes: readonly Routes[]): Routes =>
    roleScope(
      roles,
      async ({ userId }) => {
        if (config.production && !(await selectHasSecond(db, userId)))
          throw new DomainError("second_factor_needed", "Set up two-step sign-in or a passkey first");
      },
      routes,
    );
}

/** A scope inside a signed-in one, for admins. In production they need a second factor. */
export const adminScope = scopeOf(["admin"]);
/** For admins and support: no money, and nothing that changes anything but messages in the inbox. */
export const teamScope = scopeOf(teamRoles);

/** Locks the admins who can sign in, always in the same order, so that the last two can't go at the same moment. */
export async function lockAdmins(trx: Trx): Promise<string[]> {
  const rows = await trx
    .selectFrom("users")
    .select("id")
    .where("role", "=", "admin")
    .where("banned_at", "is", null)
    .where("delete_at", "is", null)
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
  return rows.map(({ id }) => id);
}

/** Throws `last_admin` for the only admin, because nobody could give the role to anybody else then. */
export async function refuseLastAdmin(trx: Trx, userId: string): Promise<void> {
  const admins = await lockAdmins(trx);
  if (admins.includes(userId) && admins.length === 1)
    throw new DomainError("last_admin", "You are the only admin. Make somebody else an admin first");
}

export async function isOfTeam(executor: Executor, userId: string): Promise<boolean> {
  return (await selectRole(executor, userId)) !== "user";
}
