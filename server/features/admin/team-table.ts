/** The panel's list of the team. */
import { sql } from "kysely";
import type { TeamQuery } from "../../contract/admin/team.ts";
import { TeamMember } from "../../contract/admin/team.ts";
import type { Deps } from "../../deps.ts";
import { hasSecondFactor } from "../team/second-factor.ts";
import type { Table } from "./tables.ts";

interface Row {
  id: string;
  email: string;
  name: string | null;
  role: TeamMember["role"];
  has_second: boolean;
  last_sign_in_at: Date | null;
}

/** `adminEmails`: who is an admin by the installation's settings. */
export function teamTable({ adminEmails }: Pick<Deps["config"], "adminEmails">): Table<Row, TeamMember, TeamQuery, "email" | "lastSignIn"> {
  return {
    columns: sql`users.id, i.subject as email, users.name, users.role, users.last_sign_in_at, ${hasSecondFactor} as has_second`,
    from: sql`users join identities i on i.user_id = users.id and i.kind = 'email'`,
    sorts: {
      email: [{ column: sql`i.subject`, type: "text" }],
      lastSignIn: [
        { column: sql`coalesce(users.last_sign_in_at, '-infinity')`, type: "timestamptz" },
        { column: sql`users.id`, type: "uuid" },
      ],
    },
    defaultSort: "email",
    defaultOrder: "asc",
    conditionsOf: ({ role }) => [
      sql<boolean>`users.role <> 'user' and users.delete_at is null`,
      role === undefined ? undefined : sql<boolean>`users.role = ${role}`,
    ],
    shown: TeamMember,
    show: (row) => ({
      id: row.id,
      email: row.email,
      name: row.name,
      role: row.role,
      hasSecondFactor: row.has_second,
      isNamed: adminEmails.includes(row.email),
      lastSignInAt: row.last_sign_in_at?.toISOString() ?? null,
    }),
  };
}
