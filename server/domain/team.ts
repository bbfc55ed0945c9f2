/** Roles of the team. Support reads what it takes to help people, without money, and changes nothing. */
export const teamRoles = ["support", "admin"] as const;
export type TeamRole = (typeof teamRoles)[number];
export type Role = "user" | TeamRole;
