/** Damages to the books that our code never does. The owner of the tables plants them, with the ledger's own checks switched off. */
import type { TestDatabase } from "./postgres.ts";
import { runAt } from "./postgres.ts";

type Books = Pick<TestDatabase, "ownerUrl">;

/** Deletes the transactions that `lost` selects, and does `more` with their entries before they go. */
async function loseTransactions({ ownerUrl }: Books, lost: string, more: string, after: readonly string[] = []): Promise<void> {
  const tables = ["ledger_entries", "ledger_transactions", "ledger_keys", "grants", "wallets"];
  const triggers = (what: string) => tables.map((table) => `alter table ${table} ${what} trigger user`).join(";");
  await runAt(ownerUrl, [
    "begin",
    triggers("disable"),
    `create temporary table lost on commit drop as ${lost}`,
    more,
    "delete from ledger_entries where transaction_id in (select id from lost)",
    "delete from ledger_keys where transaction_id in (select id from lost)",
    "delete from ledger_transactions where id in (select id from lost)",
    ...after,
    triggers("enable"),
    "commit",
  ]);
}

/** Deletes a grant and all that the ledger has of it, as if it had never been posted. */
export async function loseGrant(books: Books, grantId: string): Promise<void> {
  await loseTransactions(
    books,
    `select distinct transaction_id as id from ledger_entries where grant_id = '${grantId}'`,
    `update wallets set balance = balance - g.remaining from grants g where g.id = '${grantId}' and wallets.id = g.wallet_id`,
    [`delete from grants where id = '${grantId}'`],
  );
}

/** Gives back all that was ever taken of the charge's one grant, as if nobody had taken it. */
export async function loseClawbacks(books: Books, chargeId: string): Promise<void> {
  await loseTransactions(
    books,
    `select e.transaction_id as id, e.grant_id, e.amount from ledger_entries e join grants g on g.id = e.grant_id
      where g.charge_id = '${chargeId}' and e.account = 'clawed_back'`,
    `with given as (select grant_id, sum(amount) as amount from lost group by grant_id),
        granted as (update grants set remaining = remaining + amount, clawed_back = 0 from given where grants.id = grant_id
          returning wallet_id, amount)
      update wallets set balance = balance + amount from granted where wallets.id = wallet_id`,
  );
}
