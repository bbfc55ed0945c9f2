import { createTransport } from "nodemailer";
import { PermanentFailure } from "#domain/errors.ts";
import type { Config } from "../config.ts";

export interface OutgoingMail {
  /** Without angle brackets. The same mail sent again carries the same id, so that a mailbox shows it once. */
  messageId: string;
  to: string;
  replyTo?: string | undefined;
  subject: string;
  text: string;
  html: string;
  /** The reader's language, for Content-Language. */
  language: string;
}

export interface Mailer {
  /** Throws PermanentMailError when trying again is pointless; anything else it throws may be tried again. */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
}

/** The receiving server refused this recipient or this message for good (a 5xx answer to it). */
export class PermanentMailError extends PermanentFailure {
  override readonly name = "PermanentMailError";
}

const connectTimeoutMs = 5_000;
const silenceTimeoutMs = 10_000;
const connections = 2;

/** Refused sign-ins and greetings are also answered with 5xx, yet they are a fault of ours that may be mended: only these are final. */
const finalCommands = new Set(["RCPT TO", "DATA"]);

function isPermanent(error: unknown): boolean {
  const { responseCode, command } = error as { responseCode?: number; command?: string };
  return responseCode !== undefined && responseCode >= 500 && finalCommands.has(command ?? "");
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
    // Mails are made of our own texts; nothing in them may make the server read a file or an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail) {
      try {
        await transport.sendMail({
          from: config.from,
          to: { name: "", address: mail.to },
          ...(mail.replyTo === undefined ? {} : { replyTo: { name: "", address: mail.replyTo } }),
          subject: mail.subject,
          text: mail.text,
          html: mail.html,
          messageId: `<${mail.messageId}>`,
          headers: { "Content-Language": mail.language, "Auto-Submitted": "auto-generated" },
        });
      } catch (error) {
        if (isPermanent(error)) throw new PermanentMailError("the receiving server refused the mail", { cause: error });
        throw error;
      }
    },
    close: () => transport.close(),
  };
}
