/** Shows a person what was done to their account. It is a part of the audit log (docs/decisions/0021). */
import { validate as isUuid } from "uuid";
import { shownActions } from "#domain/audit.ts";
import type { Activity } from "../../contract/account/activity.ts";
import { parseCursor, toCursor } from "../../db/cursors.ts";
import type { Executor } from "../../db/transaction.ts";
import { shortNetwork } from "../../http/client-network.ts";
import { selectActivity } from "./queries.ts";

const pageSize = 20;

interface ActivityPage {
  events: Activity[];
  nextCursor: string | null;
}

/** The newest first, from `cursor` on. */
export async function readActivity(executor: Executor, userId: string, cursor: string | undefined): Promise<ActivityPage> {
  const before = cursor === undefined ? undefined : parseCursor(cursor, ([id = ""]) => (isUuid(id) ? id : undefined));
  const rows = await selectActivity(executor, userId, { actions: shownActions, before, limit: pageSize + 1 });
  const page = rows.slice(0, pageSize);
  const last = page.at(-1);
  return {
    events: page.map(({ id, at, action, details, network }) => ({
      ...{ id, at: at.toISOString(), action, details },
      network: network === null ? null : shortNetwork(network),
    })),
    nextCursor: rows.length > pageSize && last ? toCursor(last.id) : null,
  };
}
