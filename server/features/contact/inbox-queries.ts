import type { Insertable, Selectable } from "kysely";
import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { ContactEvents, ContactMessages } from "../../db/types-work.ts";

/** More of one message's history is not shown. */
const shownEvents = 200;

interface MessageRow extends Selectable<ContactMessages> {
  owner: string | null;
  account_id: string | null;
  account_email: string | null;
}

/** A member of the team is called by their name or, without one, their address. */
export async function selectMessage(executor: Executor, messageId: string): Promise<MessageRow | undefined> {
  const { rows } = await sql<MessageRow>`select m.*, coalesce(owner.name, owner_identity.subject) as owner,
      account.user_id as account_id, account.subject as account_email
    from contact_messages m
    left join users owner on owner.id = m.owner_id
    left join identities owner_identity on owner_identity.user_id = m.owner_id and owner_identity.kind = 'email'
    left join lateral (
      select i.user_id, i.subject from identities i where i.kind = 'email' and i.user_id = m.user_id
      union all select i.user_id, i.subject from identities i where m.user_id is null and i.kind = 'email' and i.subject = lower(m.email)
    ) account on true
    where m.id = ${messageId}`.execute(executor);
  return rows[0];
}

export async function lockMessage(trx: Trx, messageId: string): Promise<Selectable<ContactMessages> | undefined> {
  return trx.selectFrom("contact_messages").selectAll().where("id", "=", messageId).forUpdate().executeTakeFirst();
}

/** Each change raises the version. An act names the version that its team member saw, and is refused if that is not the latest. */
export async function updateMessage(
  trx: Trx,
  messageId: string,
  change: Partial<Pick<Selectable<ContactMessages>, "status" | "owner_id">>,
): Promise<void> {
  await trx
    .updateTable("contact_messages")
    .set({ ...change, version: sql<number>`version + 1` })
    .where("id", "=", messageId)
    .execute();
}

export async function insertEvent(trx: Trx, event: Insertable<ContactEvents>): Promise<void> {
  await trx.insertInto("contact_events").values(event).execute();
}

export async function selectAnswer(trx: Trx, messageId: string, key: string): Promise<Selectable<ContactEvents> | undefined> {
  return trx.selectFrom("contact_events").selectAll().where("message_id", "=", messageId).where("key", "=", key).executeTakeFirst();
}

export async function selectMailId(trx: Trx, key: string): Promise<string | undefined> {
  const row = await trx.selectFrom("mails").select("id").where("key", "=", key).executeTakeFirst();
  return row?.id;
}

interface EventRow extends Selectable<ContactEvents> {
  by: string | null;
  owner: string | null;
  /** Null: the mail's row has gone. */
  mailed_at: Date | null;
  sent_at: Date | null;
  /** Why the mail was given up. */
  error: string | null;
}

/** The oldest first; of a very long history the latest. */
export async function selectHistory(executor: Executor, messageId: string): Promise<EventRow[]> {
  const { rows } =
    await sql<EventRow>`select e.*, coalesce(actor.name, actor_identity.subject) as by, coalesce(owner.name, owner_identity.subject) as owner,
      m.created_at as mailed_at, m.sent_at, letter.error
    from (select * from contact_events where message_id = ${messageId} order by id desc limit ${shownEvents}) e
    left join users actor on actor.id = e.actor_id
    left join identities actor_identity on actor_identity.user_id = e.actor_id and actor_identity.kind = 'email'
    left join users owner on owner.id = e.owner_id
    left join identities owner_identity on owner_identity.user_id = e.owner_id and owner_identity.kind = 'email'
    left join mails m on m.id = e.mail_id
    left join lateral (select d.error from dead_letters d where d.mail_id = e.mail_id
      and (d.replayed_at is null or d.discarded) order by d.failed_at desc limit 1) letter on true
    order by e.id`.execute(executor);
  return rows;
}
