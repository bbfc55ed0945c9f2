/** Computes the wallet's mosaic: how many tiles a grant has, and how many of them are left, held or spent. */
export interface FieldGrant {
  credits: number;
  remaining: number;
  held: number;
  expiresAt: string;
}

const tileValues = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000];
const mostTiles = 160;

/** How many credits one tile represents, so that the whole wallet stays countable. */
export function creditsPerTile(grants: readonly FieldGrant[]): number {
  const total = grants.reduce((sum, grant) => sum + grant.credits, 0);
  return tileValues.find((value) => total / value <= mostTiles) ?? Math.ceil(total / mostTiles);
}

/** The grants that expire first come first, because credits are spent in that order. */
export function inSpendingOrder<Grant extends FieldGrant>(grants: readonly Grant[]): Grant[] {
  return [...grants].sort((one, other) => Date.parse(one.expiresAt) - Date.parse(other.expiresAt));
}

const dayMs = 86_400_000;

/** How soon a grant expires: "edge" within one week, "near" within two. */
export function warmth(expiresAt: string, now: Date): "edge" | "near" | "calm" {
  const days = (Date.parse(expiresAt) - now.getTime()) / dayMs;
  if (days <= 7) return "edge";
  return days <= 14 ? "near" : "calm";
}

/** The tiles of one grant. Counts are rounded up, so that a single credit still shows as a tile. */
export function tilesOf(grant: FieldGrant, perTile: number): { all: number; free: number; held: number } {
  const all = Math.ceil(grant.credits / perTile);
  const left = Math.min(all, Math.ceil(Math.max(0, grant.remaining) / perTile));
  const held = Math.min(left, Math.ceil(grant.held / perTile));
  return { all, free: left - held, held };
}
