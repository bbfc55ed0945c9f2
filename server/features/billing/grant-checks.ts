/** Grants for one payment: each thing it paid for is granted once. */
import type { Finding } from "#domain/findings.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { clawBack } from "../credits/service.ts";
import { recordFinding, resolveGone } from "../findings/service.ts";
import type { DoubledGrant } from "./check-queries.ts";
import * as checkQueries from "./check-queries.ts";
import type { Check } from "./checks.ts";
import * as queries from "./queries.ts";

type GrantDeps = Pick<Deps, "db" | "clock" | "live" | "log">;
type GrantCheck = Pick<Check, "by"> & { deps: GrantDeps };

/** Takes a doubled grant back if nothing of it was spent or is held, which is decided with the wallet locked. */
async function takeBack({ deps }: GrantCheck, grant: DoubledGrant): Promise<boolean> {
  const isRepaired = await inTransaction(deps.db, async (trx) => {
    await queries.lockSubject(trx, `billing:${grant.payer_id}`);
    await checkQueries.lockWallet(trx, grant.wallet_id);
    const current = (await checkQueries.selectDoubledGrants(trx, [grant.wallet_id])).find(({ id }) => id === grant.id);
    if (!current?.is_whole) return false;
    await clawBack(
      trx,
      { grantId: grant.id, inAll: grant.credits, reason: "duplicate", key: `clawback:doubled:${grant.id}` },
      deps.clock.now(),
    );
    return true;
  });
  if (isRepaired) await announceToMembers(deps, grant.payer_id, "wallets");
  return isRepaired;
}

/** Finds grants that were posted twice in these wallets, and takes back those that nobody has spent from. */
export async function checkDoubledGrants(check: GrantCheck, walletIds: readonly string[]): Promise<Finding[]> {
  const { deps, by } = check;
  const found: Finding[] = [];
  for (const grant of await checkQueries.selectDoubledGrants(deps.db, walletIds)) {
    const { id: subject, payer_id: payerId, credits, invoice_id: invoiceId } = grant;
    const isRepaired = grant.is_whole && (await takeBack(check, grant));
    const finding: Finding = { kind: "doubled_grant", subject, payerId, details: { credits, invoiceId }, isRepaired };
    await recordFinding(deps.db, finding, isRepaired ? by : null, deps.clock.now());
    found.push(finding);
  }
  const left = found.filter(({ isRepaired }) => !isRepaired).map(({ subject }) => subject);
  await resolveGone(deps.db, ["doubled_grant"], walletIds, left, deps.clock.now());
  return found;
}
