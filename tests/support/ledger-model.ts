/**
 * A second, simpler ledger: plain objects, one thread, no SQL. The tests run the same operations through it and through
 * PostgreSQL and compare every figure after each; a bug would have to be made twice, in two languages, to go unseen.
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
}

interface ModelHold {
  parts: { grant: ModelGrant; amount: number }[];
  state: "open" | "captured" | "released";
}

export class LedgerModel {
  /** In the order they were granted. */
  readonly grants: ModelGrant[] = [];
  readonly holds = new Map<string, ModelHold>();

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
    this.grants.push({ name, kind, credits, remaining: credits, held: 0, expiresAtMs, expired: false });
    this.repayDebt();
  }

  /** False: refused, and nothing changed. */
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
    this.holds.set(name, { parts, state: "open" });
    return true;
  }

  /** False: it had ended before. */
  end(name: string, captured: number): boolean {
    const hold = this.holds.get(name);
    if (hold?.state !== "open") return false;
    hold.state = captured > 0 ? "captured" : "released";
    let missing = captured;
    for (const { grant, amount } of hold.parts) {
      const taken = Math.min(missing, amount);
      missing -= taken;
      grant.held -= amount;
      grant.remaining -= taken;
      if (grant.expired && taken < amount) this.dropFree(grant);
    }
    this.repayDebt();
    return true;
  }

  expire(grant: ModelGrant): void {
    if (grant.expired) return;
    grant.expired = true;
    this.dropFree(grant);
  }

  clawBack(grant: ModelGrant, credits: number): void {
    grant.remaining -= credits;
    this.repayDebt();
  }

  private dropFree(grant: ModelGrant): void {
    if (grant.remaining > grant.held) grant.remaining = grant.held;
  }

  private repayDebt(): void {
    for (const debtor of this.grants.filter((grant) => grant.remaining < grant.held)) {
      for (const payer of this.soonestFirst()) {
        if (payer.expired || payer.remaining <= payer.held) continue;
        const moved = Math.min(debtor.held - debtor.remaining, payer.remaining - payer.held);
        if (moved <= 0) break;
        payer.remaining -= moved;
        debtor.remaining += moved;
      }
    }
  }
}

/** Mulberry32: a seed gives the same run everywhere. */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return Math.floor((((value ^ (value >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
