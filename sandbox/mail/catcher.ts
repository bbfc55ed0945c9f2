import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import PostalMime from "postal-mime";
import type { SMTPServerDataStream, SMTPServerSession } from "smtp-server";
import { SMTPServer } from "smtp-server";
import type { MailStore } from "./store.ts";

const mailLimitBytes = 2 * 1024 * 1024;
const recipientLimit = 100;

export interface MailCatcher {
  /** Resolves to the port, which is a free one if `port` is 0. Rejects if the port is taken. */
  listen(host: string, port: number): Promise<number>;
  close(): Promise<void>;
}

class SmtpRefusal extends Error {
  override readonly name = "SmtpRefusal";
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

async function keep(stream: SMTPServerDataStream, session: SMTPServerSession, store: MailStore): Promise<void> {
  const raw = await buffer(stream);
  if (stream.sizeExceeded) throw new SmtpRefusal(552, `The sandbox takes mails up to ${mailLimitBytes} bytes`);
  const parsed = await PostalMime.parse(raw);
  store.add({
    messageId: parsed.messageId ?? createHash("sha256").update(raw).digest("hex"),
    recipients: session.envelope.rcptTo.map((recipient) => recipient.address),
    from: parsed.from?.address ?? (session.envelope.mailFrom ? session.envelope.mailFrom.address : ""),
    subject: parsed.subject ?? "",
    text: parsed.text ?? "",
    html: parsed.html ?? "",
  });
}

/** An SMTP server that stores mails instead of delivering them. It needs no password and no TLS, and listens on the sandbox's host only. */
export function createMailCatcher(store: MailStore, warn: (details: object, message: string) => void): MailCatcher {
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    size: mailLimitBytes,
    disableReverseLookup: true,
    closeTimeout: 1_000,
    socketTimeout: 60_000,
    banner: "Tessera sandbox",
    onRcptTo(_address, session, callback) {
      callback(session.envelope.rcptTo.length >= recipientLimit ? new SmtpRefusal(452, "Too many recipients") : null);
    },
    onData(stream, session, callback) {
      keep(stream, session, store).then(
        () => callback(null),
        (error: unknown) => {
          if (!(error instanceof SmtpRefusal)) warn({ error }, "a mail could not be kept");
          callback(error instanceof SmtpRefusal ? error : new SmtpRefusal(451, "The sandbox could not read this mail"));
        },
      );
    },
  });
  server.on("error", (error) => warn({ error }, "a mail connection failed"));
  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.server.once("error", reject);
        server.listen(port, host, () => {
          server.server.off("error", reject);
          const address: AddressInfo | string | null = server.server.address();
          resolve(typeof address === "object" && address !== null ? address.port : port);
        });
      }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
