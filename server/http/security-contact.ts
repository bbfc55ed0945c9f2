/** Tells researchers whom to write to about a weakness: /.well-known/security.txt (RFC 9116). */
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { mailtoAddress } from "#domain/rules.ts";
import type { Config } from "../config.ts";
import type { App } from "./app-type.ts";

const address = "/.well-known/security.txt";
/** How long a copy of the file is valid. Counted from each request, so the file that we serve never expires. */
const believedMs = 30 * dayMs;

export function registerSecurityContact(app: App, config: Pick<Config, "contactEmail" | "publicUrl">): void {
  const canonical = new URL(address, config.publicUrl);
  app.get(address, { schema: { hide: true } }, async (_request, reply) => {
    const lines = [
      `Contact: ${mailtoAddress(config.contactEmail)}`,
      `Expires: ${addMilliseconds(new Date(), believedMs).toISOString()}`,
      "Preferred-Languages: en",
      // The standard allows only https here.
      ...(canonical.protocol === "https:" ? [`Canonical: ${canonical.href}`] : []),
    ];
    return reply
      .type("text/plain; charset=utf-8")
      .header("cache-control", "public, max-age=3600")
      .send(`${lines.join("\n")}\n`);
  });
}
