import type { DatabaseSync } from "node:sqlite";
import { findLinks } from "./links.ts";

/** A received mail, as the endpoint returns it. */
export interface CaughtMail {
  id: number;
  /** The envelope's recipients, separated by commas. */
  to: string;
  from: string;
  subject: string;
  text: string;
  html: string;
  links: string[];
  /** Wall time, RFC 3339. */
  receivedAt: string;
}

export interface IncomingMail {
  /** Mails with the same Message-ID are stored as one, as mailboxes do. */
  messageId: string;
  recipients: readonly string[];
  from: string;
  subject: string;
  text: string;
  html: string;
}

const keptMails = 5_000;

/** The mails that the product has sent. They are stored in the sandbox's database. */
export class MailStore {
  private readonly database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.database = database;
    database.exec(`
      create table if not exists mail (
        id integer primary key autoincrement, message_id text not null unique, received_at text not null,
        sender text not null, subject text not null, text text not null, html text not null);
      create table if not exists mail_recipient (
        mail_id integer not null references mail (id) on delete cascade, address text not null, primary key (mail_id, address));
      create index if not exists mail_recipient_address on mail_recipient (address, mail_id);
    `);
  }

  /** Stores a mail once for each Message-ID; a repeated one may add recipients. Only the newest 5,000 mails are kept. */
  add(mail: IncomingMail): void {
    this.database.exec("begin immediate");
    try {
      this.database
        .prepare(
          "insert into mail (message_id, received_at, sender, subject, text, html) values (?, ?, ?, ?, ?, ?) on conflict (message_id) do nothing",
        )
        .run(mail.messageId, new Date().toISOString(), mail.from, mail.subject, mail.text, mail.html);
      const addRecipient = this.database.prepare(
        "insert into mail_recipient (mail_id, address) select id, ? from mail where message_id = ? on conflict do nothing",
      );
      for (const recipient of mail.recipients) addRecipient.run(recipient.toLowerCase(), mail.messageId);
      this.database.prepare("delete from mail where id <= (select max(id) from mail) - ?").run(keptMails);
      this.database.exec("commit");
    } catch (error) {
      this.database.exec("rollback");
      throw error;
    }
  }

  /** The newest mails first, for one recipient or for all. */
  list(recipient: string | undefined, limit: number): CaughtMail[] {
    const chosen =
      recipient === undefined
        ? this.database.prepare("select * from mail order by id desc limit ?").all(limit)
        : this.database
            .prepare("select mail.* from mail join mail_recipient on mail_id = id where address = ? order by id desc limit ?")
            .all(recipient.toLowerCase(), limit);
    return chosen.map((row) => this.read(row));
  }

  find(id: number): CaughtMail | undefined {
    const row = this.database.prepare("select * from mail where id = ?").get(id);
    return row === undefined ? undefined : this.read(row);
  }

  count(): number {
    return Number(this.database.prepare("select count(*) as mails from mail").get()?.mails ?? 0);
  }

  private read(row: Record<string, unknown>): CaughtMail {
    const recipients = this.database.prepare("select address from mail_recipient where mail_id = ? order by rowid").all(Number(row.id));
    const text = String(row.text);
    const html = String(row.html);
    return {
      id: Number(row.id),
      to: recipients.map((recipient) => String(recipient.address)).join(", "),
      from: String(row.sender),
      subject: String(row.subject),
      text,
      html,
      links: findLinks(text, html),
      receivedAt: String(row.received_at),
    };
  }
}
