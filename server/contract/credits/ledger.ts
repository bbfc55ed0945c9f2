import type { Static } from "typebox";
import { Type } from "typebox";
import { clawbackReasons } from "../../domain/credits.ts";
import { Interval, InvoiceId, Plan } from "../billing/invoices.ts";
import { Credits, Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";

const kinds = [
  Type.Literal("grant"),
  Type.Literal("capture"),
  Type.Literal("expire"),
  Type.Literal("clawback"),
  Type.Literal("restore"),
] as const;
export const LedgerLineKind = Type.Union([...kinds]);
export type LedgerLineKind = Static<typeof LedgerLineKind>;

const GrantKind = Type.Union([Type.Literal("plan"), Type.Literal("trial"), Type.Literal("pack"), Type.Literal("adjustment")]);

const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** What a grant was for, where that was sold: a month of a plan, or a pack. */
export const GrantSubject = Type.Union([
  Type.Object({
    kind: Type.Literal("plan"),
    plan: Plan,
    interval: Interval,
    /** Which month of a year that was paid at once; null: the whole period that was paid. */
    month: orNull(Type.Integer({ minimum: 1, maximum: 12 })),
    /** What the credits were for; they may be valid for a little longer. */
    from: Timestamp,
    until: Timestamp,
  }),
  Type.Object({ kind: Type.Literal("pack"), pack: Type.String(), credits: Credits }),
]);
export type GrantSubject = Static<typeof GrantSubject>;

const source = {
  /** Null for a trial and for credits that the team gave. */
  grantFor: orNull(GrantSubject),
  /** The account's own invoice that the grant was paid with. */
  invoice: orNull(Type.Object({ id: InvoiceId, number: orNull(Type.String()) })),
};

/** One line of the wallet's history. `balanceAfter` is the running sum, so that a person can check the balance. */
export const LedgerLine = Type.Object({
  id: Uuid,
  kind: LedgerLineKind,
  credits: Type.Integer(),
  balanceAfter: Type.Integer(),
  occurredAt: Timestamp,
  /** Which grant was posted, has expired or was taken back. Null for a capture, which may take from several. */
  grantId: orNull(Uuid),
  grantKind: orNull(GrantKind),
  ...source,
  /** For credits that were taken back. */
  reason: orNull(Type.Enum([...clawbackReasons])),
  /** For a capture: the model that answered. */
  modelId: orNull(Type.String()),
  /** For a capture: the reader's conversation with the answer, unless it was deleted. */
  conversationId: orNull(Uuid),
  conversationTitle: orNull(Type.String()),
});
export type LedgerLine = Static<typeof LedgerLine>;

export const LedgerPage = Type.Object({
  lines: Type.Array(LedgerLine),
  nextCursor: orNull(Type.String()),
  /** Up to when a filtered history was read. The page may have fewer lines than asked for, or none, and `nextCursor` goes on from there. */
  readTo: orNull(Timestamp),
});
export type LedgerPage = Static<typeof LedgerPage>;

/** A day in UTC: 2026-03-10. */
const Day = Type.String({ format: "date" });
const filter = {
  kind: Type.Optional(LedgerLineKind),
  /** Only what was spent on this model's answers. */
  model: Type.Optional(Type.String({ maxLength: 100 })),
  /** Only what moved credits of this grant. */
  grant: Type.Optional(Uuid),
  /** The first and the last day. */
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  direction: Type.Optional(Type.Union([Type.Literal("in"), Type.Literal("out")])),
};
export const LedgerFilter = Type.Object(filter, { additionalProperties: false });
export type LedgerFilter = Static<typeof LedgerFilter>;

/** A grant that is open, as steps: credits − spent − expired − takenBack + moved = remaining, of which some may be held. */
const ExplainedGrant = Type.Object({
  id: Uuid,
  kind: GrantKind,
  ...source,
  createdAt: Timestamp,
  expiresAt: Timestamp,
  credits: Credits,
  spent: Credits,
  expired: Credits,
  takenBack: Type.Integer(),
  /** Credits that went from this grant to repay another one's debt (negative), or came from another grant to repay this one's. */
  moved: Type.Integer(),
  remaining: Type.Integer(),
  held: Credits,
});
export const Explanation = Type.Object({
  balance: Type.Integer(),
  held: Credits,
  /** What all grants of which nothing is left had brought. */
  closedCredits: Credits,
  /** In the order in which they were posted. */
  grants: Type.Array(ExplainedGrant),
  /** Whether the steps add up to the balance and to what is held. */
  agrees: Type.Boolean(),
});
export type Explanation = Static<typeof Explanation>;

export const ledgerRoutes = {
  "GET /api/credits/ledger": {
    summary:
      "The wallet's history, newest first. A request reads a bounded part of it: where few lines match a filter, a page may have fewer than " +
      "`limit` lines, or none, while `nextCursor` leads on",
    querystring: Type.Object(
      {
        ...filter,
        cursor: Type.Optional(Type.String({ maxLength: 200 })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      },
      { additionalProperties: false },
    ),
    response: { 200: LedgerPage },
  },
  "GET /api/credits/ledger.csv": {
    summary: "All lines of the history that match the filter, newest first, as CSV (RFC 4180, UTF-8 with a byte order mark, times in UTC)",
    querystring: LedgerFilter,
    response: { 200: Type.Any({ description: "text/csv" }) },
  },
  "GET /api/credits/explanation": {
    summary: "How the balance came about: the open grants step by step, and what all others had brought",
    response: { 200: Explanation },
  },
} as const satisfies Record<string, RouteContract>;
