import type { Static } from "typebox";
import { Type } from "typebox";
import { Credits, Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";

const WalletGrant = Type.Object({
  id: Uuid,
  kind: Type.Union([Type.Literal("plan"), Type.Literal("trial"), Type.Literal("pack"), Type.Literal("adjustment")]),
  credits: Credits,
  remaining: Type.Integer(),
  held: Credits,
  expiresAt: Timestamp,
  createdAt: Timestamp,
});
export const Wallet = Type.Object({
  balance: Type.Integer(),
  held: Credits,
  available: Credits,
  frozen: Type.Boolean(),
  grants: Type.Array(WalletGrant),
  serverTime: Timestamp,
});
export type Wallet = Static<typeof Wallet>;

export const walletRoutes = {
  "GET /api/credits/wallet": { summary: "Balance, held credits and the grants behind them", response: { 200: Wallet } },
} as const satisfies Record<string, RouteContract>;
