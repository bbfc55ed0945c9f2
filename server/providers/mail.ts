import { createTransport } from "nodemailer";
import { PermanentFailure } from "#domain/errors.ts";
import type { Config } from "../config.ts";
import { refuseWithinTransaction } from "../db/transaction.ts";

export interface MailedFile {
  name: string;
  text: string;
}

export interface OutgoingMail {
  /** Without angle brackets. A mail that is sent again has the same id, so that mailboxes can show it once. */
  messageId: string;
  /** The Message-ID of the mail below which mailboxes show this one, without angle brackets. */
  inReplyTo?: string | undefined;
  to: string;
  replyTo?: string | undefined;
  subject: string;
  text: string;
  html: string;
  /** The language of the text, for the header Content-Language. */
  language: string;
  /** For mails that the recipient can switch off: a mailbox posts to it when its owner asks for that (RFC 8058). */
  unsubscribeUrl?: string | undefined;
  /** Plain texts. */
  attachments?: readonly MailedFile[];
  /** A person wrote it (RFC 3834 §5). */
  isByHand?: boolean;
}

export interface Mailer {
  /** Throws PermanentMailError if trying again can't help; after any other error the mail may be sent again. */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
}

/** The receiving server refused the recipient or the message permanently (a 5xx reply). */
export class PermanentMailError extends PermanentFailure {
  override readonly name = "PermanentMailError";
}

/** The receiving server put this mail off (a 4xx reply to the recipient or the message), which greylisting does for some minutes. */
export class DeferredMailError extends Error {
  override readonly name = "DeferredMailError";
}

const connectTimeoutMs = 5_000;
const silenceTimeoutMs = 10_000;
const connections = 2;

/** Only replies to these commands are about the mail. A reply to the greeting or the sign-in is about us, and can be fixed. */
const commandsOfMail = new Set(["RCPT TO", "DATA"]);

/** The first digit of the reply to the mail; undefined if the failure is not about the mail. */
function replyClass(error: unknown): number | undefined {
  const { responseCode, command } = error as { responseCode?: number; command?: string };
  return responseCode !== undefined && commandsOfMail.has(command ?? "") ? Math.floor(responseCode / 100) : undefined;
}

/** An encoded word has at most 75 characters (RFC 2047 §2), so its base64 can encode this many bytes. */
const bytesPerWord = 45;

/**
 * Mail programs decode everything that looks like an encoded word. If a person typed such a text, we encode it ourselves, so
 * that readers see what was typed.
 */
function literalHeader(text: string): string {
  if (!text.includes("=?")) return text;
  const words = [""];
  for (const character of text.toWellFormed()) {
    const longer = (words.at(-1) ?? "") + character;
    if (Buffer.byteLength(longer) > bytesPerWord) words.push(character);
    else words[words.length - 1] = longer;
  }
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`).join(" ");
}

function unsubscribeHeaders({ unsubscribeUrl }: OutgoingMail): Record<string, string> {
  if (unsubscribeUrl === undefined) return {};
  return { "List-Unsubscribe": `<${unsubscribeUrl}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
}

export function createMailer(config: Config["mail"]): Mailer {
  const transport = createTransport({
    url: config.smtpUrl,
    pool: true,
    maxConnections: connections,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    dnsTimeout: connectTimeoutMs,
    socketTimeout: silenceTimeoutMs,
    // No content of a mail may make the server read a file or fetch an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail) {
      refuseWithinTransaction("The mail server");
      try {
        await transport.sendMail({
          from: config.from,
          to: { name: "", address: mail.to },
          ...(mail.replyTo === undefined ? {} : { replyTo: { name: "", address: mail.replyTo } }),
          subject: literalHeader(mail.subject),
          text: mail.text,
          html: mail.html,
          attachments: (mail.attachments ?? []).map(({ name, text }) => ({
            filename: name,
            content: text,
            contentType: "text/plain; charset=utf-8",
          })),
          messageId: `<${mail.messageId}>`,
          ...(mail.inReplyTo === undefined ? {} : { inReplyTo: `<${mail.inReplyTo}>`, references: `<${mail.inReplyTo}>` }),
          headers: {
            "Content-Language": mail.language,
            ...(mail.isByHand ? {} : { "Auto-Submitted": "auto-generated" }),
            ...unsubscribeHeaders(mail),
          },
        });
      } catch (error) {
        const reply = replyClass(error);
        if (reply === 4) throw new DeferredMailError("the receiving server put the mail off", { cause: error });
        if (reply === 5) throw new PermanentMailError("the receiving server refused the mail", { cause: error });
        throw error;
      }
    },
    close: () => transport.close(),
  };
}
