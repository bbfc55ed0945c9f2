/** Runs random credit operations from a seed on PostgreSQL and on the simpler model, and compares both after each one. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { grantKinds } from "#domain/credits.ts";
import { DomainError } from "#domain/errors.ts";
import type { Db } from "#server/db/database.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { explainBalance } from "#server/features/credits/explanation.ts";
import { expireGrant, findDisagreements, postGrant, restoreCredits } from "#server/features/credits/service.ts";
import type { ShareInput } from "./ledger-calls.ts";
import { clawBack, endHold, holdCredits, holdTogether, settle, settleTogether } from "./ledger-calls.ts";
import { LedgerModel, seededRandom } from "./ledger-model.ts";
import { payerIdOf } from "./payers.ts";
import { createUser } from "./people.ts";

const dayMs = 86_400_000;

class Run {
  readonly model = new LedgerModel();
  private readonly db: Db;
  private readonly random: (below: number) => number;
  private readonly userId: string;
  private readonly payerId: string;
  private readonly walletId: string;
  /** Of somebody else, with credits for everything. */
  private readonly otherWalletId: string;
  private readonly ids = new Map<string, string>();
  private nowMs = Date.UTC(2026, 0, 31);
  private count = 0;

  constructor(
    db: Db,
    random: (below: number) => number,
    { userId, payerId, walletId, otherWalletId }: { userId: string; payerId: string; walletId: string; otherWalletId: string },
  ) {
    this.db = db;
    this.random = random;
    this.userId = userId;
    this.payerId = payerId;
    this.walletId = walletId;
    this.otherWalletId = otherWalletId;
  }

  private get now(): Date {
    return new Date(this.nowMs);
  }

  /** Whether this operation is done alone, and not together with those of others. */
  private get alone(): boolean {
    return this.count % 8 === 7;
  }

  /** A hold of somebody else that ends together with this person's. */
  private async otherShare(): Promise<ShareInput> {
    const holdId = randomUUID();
    const times = { now: this.now, deadline: new Date(Date.now() + dayMs), wallNow: new Date() };
    await holdCredits(this.db, { holdId, walletId: this.otherWalletId, credits: 1, kinds: grantKinds, ...times });
    return { holdId, share: 1, credits: 1, key: `capture:${holdId}` };
  }

  async step(): Promise<string> {
    this.count += 1;
    this.nowMs += this.random(6 * 3_600_000);
    const choice = this.random(100);
    if (choice < 20 || this.model.grants.length === 0) return this.grant();
    if (choice < 55) return this.hold();
    if (choice < 80) return this.end();
    if (choice < 90) return this.expire();
    return choice < 97 ? this.clawBack() : this.restore();
  }

  private async grant(): Promise<string> {
    const name = `grant:${this.walletId}:${this.count}`;
    const kind = grantKinds[this.random(grantKinds.length)] ?? "plan";
    const credits = 1 + this.random(60);
    const expiresAtMs = this.nowMs + this.random(20) * dayMs + 1;
    const { grantId } = await inTransaction(this.db, (trx) =>
      postGrant(trx, { payerId: this.payerId, kind, credits, expiresAt: new Date(expiresAtMs), key: name }, this.now),
    );
    this.ids.set(name, grantId);
    this.model.grant(name, kind, credits, expiresAtMs);
    return `grant ${credits} ${kind}`;
  }

  private async hold(): Promise<string> {
    const holdId = randomUUID();
    const credits = 1 + this.random(25);
    const kinds = grantKinds.filter(() => this.random(4) > 0);
    const expected = this.model.hold(holdId, credits, kinds, this.nowMs);
    const times = { now: this.now, deadline: new Date(Date.now() + dayMs), wallNow: new Date() };
    const input = { holdId, walletId: this.walletId, credits, kinds, ...times };
    const other = { holdId: randomUUID(), walletId: this.otherWalletId, credits: 1, kinds: grantKinds, ...times };
    // PostgreSQL has one function for a hold by itself and one for the holds of answers that start together, which may be a single one.
    const held = this.count % 2 === 0 ? holdCredits(this.db, input) : holdTogether(this.db, this.alone ? [input] : [input, other]);
    const done = await held.then(
      () => true,
      (error: unknown) => {
        if (error instanceof DomainError && error.code === "insufficient_credits") return false;
        throw error;
      },
    );
    assert.equal(done, expected, `hold of ${credits} from ${kinds.join()}`);
    return `hold ${credits}`;
  }

  private async end(): Promise<string> {
    const names = [...this.model.holds.keys()];
    const holdId = names[this.random(names.length)];
    if (holdId === undefined) return "nothing held";
    const open = this.model.open(holdId);
    if (open === 0) {
      const { ended } = await endHold(this.db, holdId, 0, this.now, new Date());
      assert.equal(ended, false, "a hold ends once");
      return "end what has ended";
    }
    // Half of them end at once, the others share by share.
    const share = this.random(2) === 0 ? open : 1 + this.random(open);
    const captured = this.random(3) === 0 ? 0 : 1 + this.random(share);
    const key = `capture:${this.walletId}:${this.count}`;
    const input = { holdId, share, credits: captured, key };
    // PostgreSQL has one function for a share by itself and one for answers that end together, which may be a single one.
    if (this.count % 2 === 0) assert.deepEqual(await settle(this.db, input, this.now), { settled: true, captured });
    else
      assert.equal(
        (await settleTogether(this.db, [input, ...(this.alone ? [] : [await this.otherShare()])], this.now))[0]?.captured,
        captured,
      );
    this.model.settle(holdId, share, captured);
    return `settle ${share} of ${open} with ${captured}`;
  }

  private async expire(): Promise<string> {
    const grant = this.model.grants[this.random(this.model.grants.length)];
    assert(grant);
    await expireGrant(this.db, this.ids.get(grant.name) ?? "", this.now);
    this.model.expire(grant);
    return `expire ${grant.name}`;
  }

  private async clawBack(): Promise<string> {
    const grant = this.model.grants[this.random(this.model.grants.length)];
    assert(grant);
    const id = this.ids.get(grant.name) ?? "";
    const creditsInAll = 1 + this.random(grant.credits);
    const before = grant.clawedBack;
    const taken = await inTransaction(this.db, (trx) =>
      clawBack(trx, { grantId: id, creditsInAll, key: `clawback:${this.walletId}:${this.count}` }, this.now),
    );
    this.model.clawBack(grant, creditsInAll);
    assert.equal(taken, grant.clawedBack - before, "takes what is still owed of all that is asked for");
    return `claw back ${creditsInAll} in all of ${grant.name}`;
  }

  private async restore(): Promise<string> {
    const grant = this.model.grants[this.random(this.model.grants.length)];
    assert(grant);
    const credits = 1 + this.random(grant.credits);
    const before = grant.clawedBack;
    const input = { grantId: this.ids.get(grant.name) ?? "", credits, key: `restore:${this.walletId}:${this.count}` };
    const given = await inTransaction(this.db, (trx) => restoreCredits(trx, input, this.now));
    this.model.restore(grant, credits);
    assert.equal(given, before - grant.clawedBack, "gives back no more than was taken");
    return `restore ${credits} of ${grant.name}`;
  }

  async compare(): Promise<void> {
    const wallet = await this.db
      .selectFrom("wallets")
      .select(["balance", "held"])
      .where("id", "=", this.walletId)
      .executeTakeFirstOrThrow();
    assert.deepEqual({ balance: wallet.balance, held: wallet.held }, { balance: this.model.balance, held: this.model.held });
    assert(this.model.balance >= -this.model.spent, "debt is only ever what was spent");
    const rows = await this.db
      .selectFrom("grants")
      .select(["source_key", "remaining", "held"])
      .where("wallet_id", "=", this.walletId)
      .execute();
    const recorded = Object.fromEntries(rows.map((row) => [row.source_key, `${row.remaining}/${row.held}`]));
    assert.deepEqual(recorded, Object.fromEntries(this.model.grants.map((grant) => [grant.name, `${grant.remaining}/${grant.held}`])));
    await this.compareExplanation();
  }

  /** What the person is told about their balance is what happened in the model, grant by grant. */
  private async compareExplanation(): Promise<void> {
    const open = this.model.grants.filter(({ remaining, held }) => remaining !== 0 || held !== 0);
    const closed = this.model.grants.filter((grant) => !open.includes(grant));
    const told = await explainBalance(this.db, this.userId);
    assert.deepEqual(
      { ...told, grants: told.grants.map(({ createdAt: _createdAt, ...grant }) => grant) },
      {
        balance: this.model.balance,
        held: this.model.held,
        closedCredits: closed.reduce((sum, { credits }) => sum + credits, 0),
        grants: open.map(({ name, kind, credits, spent, lost, clawedBack, moved, remaining, held, expiresAtMs }) => ({
          ...{ id: this.ids.get(name), kind, expiresAt: new Date(expiresAtMs).toISOString() },
          ...{ credits, spent, expired: lost, takenBack: clawedBack, moved, remaining, held },
          // The model's grants were not sold.
          ...{ grantFor: null, invoice: null },
        })),
        agrees: true,
      },
    );
  }
}

/**
 * Throws at the first figure that differs, and at the end if the ledger's entries and balances disagree. The error names the
 * seed and the last operations.
 */
export async function runAgainstModel(db: Db, seed: number, operations: number): Promise<void> {
  const { userId, walletId } = await createUser(db);
  const { walletId: otherWalletId } = await createUser(db, { credits: 10 * operations });
  const run = new Run(db, seededRandom(seed), { userId, payerId: await payerIdOf(db, userId), walletId, otherWalletId });
  const trail: string[] = [];
  try {
    for (let count = 0; count < operations; count += 1) {
      trail.push(await run.step());
      await run.compare();
    }
    assert.deepEqual(await findDisagreements(db), []);
  } catch (error) {
    throw new Error(`seed ${seed}, after: ${trail.slice(-6).join(" → ")}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
