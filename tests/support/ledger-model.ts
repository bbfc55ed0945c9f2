/**
 * A second, simpler implementation of the ledger: plain objects, one thread, no SQL. The tests run the same operations on it
 * and on PostgreSQL and compare every figure after each one. They miss a bug only if both implementations have it.
 */
import type { GrantKind } from "#domain/credits.ts";

export interface ModelGrant {
  name: string;
  kind: GrantKind;
  credits: number;
  remaining: number;
  held: number;
  expiresAtMs: number;
  expired: boolean;
  /** Credits that expired unused. */
  lost: number;
  clawedBack: number;
  /** Credits charged for answers. */
  spent: number;
  /** Credits that repaid debt: negative if they went to other grants. */
  moved: number;
  /** How much of this grant's debt each other grant paid. */
  paidBy: Map<ModelGrant, number>;
}

interface ModelHold {
  /** What is still held of each grant. */
  parts: { grant: ModelGrant; amount: number }[];
  captured: number;
  state: "open" | "captured" | "released";
}

export class LedgerModel {
  /** In the order of granting. */
  readonly grants: ModelGrant[] = [];
  readonly holds = new Map<string, ModelHold>();
  /** Credits charged for all answers together. */
  get spent(): number {
    return this.grants.reduce((sum, grant) => sum + grant.spent, 0);
  }

  get balance(): number {
    return this.grants.reduce((sum, grant) => sum + grant.remaining, 0);
  }

  get held(): number {
    return this.grants.reduce((sum, grant) => sum + grant.held, 0);
  }

  private soonestFirst(): ModelGrant[] {
    return [...this.grants].sort((a, b) => a.expiresAtMs - b.expiresAtMs || this.grants.indexOf(a) - this.grants.indexOf(b));
  }

  grant(name: string, kind: GrantKind, credits: number, expiresAtMs: number): void {
    this.grants.push({
      name,
      kind,
      credits,
      remaining: credits,
      held: 0,
      expiresAtMs,
      expired: false,
      lost: 0,
      clawedBack: 0,
      spent: 0,
      moved: 0,
      paidBy: new Map(),
    });
    this.repayDebt();
  }

  /** Returns false if the hold is refused; nothing has changed then. */
  hold(name: string, credits: number, kinds: readonly GrantKind[], nowMs: number): boolean {
    if (this.balance - this.held < credits) return false;
    const usable = this.soonestFirst().filter(
      (grant) => kinds.includes(grant.kind) && !grant.expired && grant.expiresAtMs > nowMs && grant.remaining > grant.held,
    );
    if (usable.reduce((sum, grant) => sum + grant.remaining - grant.held, 0) < credits) return false;
    let missing = credits;
    const parts: ModelHold["parts"] = [];
    for (const grant of usable) {
      const amount = Math.min(missing, grant.remaining - grant.held);
      if (amount === 0) break;
      grant.held += amount;
      missing -= amount;
      parts.push({ grant, amount });
    }
    this.holds.set(name, { parts, captured: 0, state: "open" });
    return true;
  }

  /** What is still held under this name. */
  open(name: string): number {
    const hold = this.holds.get(name);
    return hold?.state === "open" ? hold.parts.reduce((sum, part) => sum + part.amount, 0) : 0;
  }

  /** Settles `share` credits of a hold, one credit at a time. Returns false if the hold had already ended. */
  settle(name: string, share: number, captured: number): boolean {
    const hold = this.holds.get(name);
    if (hold?.state !== "open") return false;
    for (let credit = 0; credit < captured; credit += 1) {
      const part = hold.parts.find(({ amount }) => amount > 0);
      if (!part) throw new Error("more captured than held");
      part.amount -= 1;
      part.grant.held -= 1;
      part.grant.remaining -= 1;
      part.grant.spent += 1;
    }
    for (let credit = captured; credit < share; credit += 1) {
      const part = hold.parts.findLast(({ amount }) => amount > 0);
      if (!part) throw new Error("more released than held");
      part.amount -= 1;
      part.grant.held -= 1;
      if (part.grant.expired) this.dropFree(part.grant);
    }
    hold.captured += captured;
    if (this.open(name) === 0) hold.state = hold.captured > 0 ? "captured" : "released";
    this.repayDebt();
    return true;
  }

  expire(grant: ModelGrant): void {
    if (grant.expired) return;
    grant.expired = true;
    this.dropFree(grant);
  }

  /** `inAll` is the sum of all refunds of this grant. Credits that expired unused are not clawed back. */
  clawBack(grant: ModelGrant, inAll: number): void {
    const owed = inAll - grant.lost;
    while (grant.clawedBack < owed) {
      grant.remaining -= 1;
      grant.clawedBack += 1;
    }
    this.repayDebt();
  }

  /** A failed refund: up to `credits` of what was clawed back return, and what others had paid for them returns to those. */
  restore(grant: ModelGrant, credits: number): void {
    const given = Math.min(credits, grant.clawedBack);
    grant.clawedBack -= given;
    grant.remaining += given;
    for (const payer of given > 0 ? this.soonestFirst().reverse() : []) {
      while ((grant.paidBy.get(payer) ?? 0) > 0 && grant.remaining > grant.held) {
        grant.paidBy.set(payer, (grant.paidBy.get(payer) ?? 0) - 1);
        // The same two can owe each other the other way later.
        payer.paidBy.set(grant, (payer.paidBy.get(grant) ?? 0) + 1);
        grant.remaining -= 1;
        grant.moved -= 1;
        payer.remaining += 1;
        payer.moved += 1;
      }
      if (payer.expired && payer !== grant) this.dropFree(payer);
    }
    if (given > 0 && grant.expired) this.dropFree(grant);
    this.repayDebt();
  }

  private dropFree(grant: ModelGrant): void {
    if (grant.remaining <= grant.held) return;
    grant.lost += grant.remaining - grant.held;
    grant.remaining = grant.held;
  }

  private repayDebt(): void {
    for (const debtor of this.grants.filter((grant) => grant.remaining < grant.held)) {
      for (const payer of this.soonestFirst()) {
        if (payer.expired || payer.remaining <= payer.held) continue;
        const moved = Math.min(debtor.held - debtor.remaining, payer.remaining - payer.held);
        if (moved <= 0) break;
        payer.remaining -= moved;
        payer.moved -= moved;
        debtor.remaining += moved;
        debtor.moved += moved;
        debtor.paidBy.set(payer, (debtor.paidBy.get(payer) ?? 0) + moved);
        payer.paidBy.set(debtor, (payer.paidBy.get(debtor) ?? 0) - moved);
      }
    }
  }
}

/** Mulberry32: the same seed gives the same numbers on every machine. */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return Math.floor((((value ^ (value >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
