import { paths } from "#client/paths.ts";
import type { TeamRole } from "#domain/team.ts";

/** The panel's sections in the order of the navigation. The first one of a role is at /admin, too. */
const sections = [
  { name: "overview", roles: ["admin"] },
  { name: "needs", roles: ["admin"] },
  { name: "inbox", roles: ["admin", "support"] },
  { name: "people", roles: ["admin", "support"] },
  { name: "models", roles: ["admin", "support"] },
  { name: "work", roles: ["admin"] },
  { name: "campaigns", roles: ["admin"] },
  { name: "settings", roles: ["admin"] },
  { name: "team", roles: ["admin", "support"] },
  { name: "audit", roles: ["admin", "support"] },
] as const satisfies readonly { name: string; roles: readonly TeamRole[] }[];

export type SectionName = (typeof sections)[number]["name"];

export function sectionsOf(role: TeamRole): SectionName[] {
  return sections.filter(({ roles }) => (roles as readonly TeamRole[]).includes(role)).map(({ name }) => name);
}

export function sectionPath(name: SectionName): string {
  return `${paths.admin}/${name}`;
}

/** The section that an address names, and below it one thing and its tab. Undefined if there is no such section for the role. */
export function placeOf(
  pathname: string,
  role: TeamRole,
): { section: SectionName; id: string | undefined; tab: string | undefined } | undefined {
  const [name = sectionsOf(role)[0], id, tab, ...rest] = pathname.slice(paths.admin.length).split("/").filter(Boolean);
  const section = sectionsOf(role).find((each) => each === name);
  return section === undefined || rest.length > 0 ? undefined : { section, id, tab };
}
