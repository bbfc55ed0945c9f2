/**
 * Addresses of files for `<img>`, `<audio>` and `<video>`, which send no token. An address is signed for one file and one sign-in, and
 * for an hour or two. Within an hour the same sign-in gets the same address, so that a page that is drawn again loads nothing again.
 */
import { hourMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { Deps } from "../../deps.ts";
import type { CheckSessions } from "../../http/held-connections.ts";
import { decodeUuid, encodeUuid, isSignatureOf, signText } from "../../http/secret-keys.ts";
import * as queries from "./queries.ts";

interface Reader {
  userId: string;
  sessionId: string;
}

/** What is signed. The owner of a file never changes, so the sign-in stands for them. */
const claimOf = (id: string, { userId, sessionId }: Reader, until: string) => `${id} ${userId} ${sessionId} ${until}`;

export async function signAddresses({ db, config }: Pick<Deps, "db" | "config">, reader: Reader, ids: readonly string[]) {
  const expiresAt = new Date((Math.floor(Date.now() / hourMs) + 2) * hourMs);
  const until = (expiresAt.getTime() / hourMs).toString(36);
  const own = await queries.selectOwnIds(db, reader.userId, ids);
  return own.map((id) => {
    const ticket = [
      encodeUuid(reader.userId),
      encodeUuid(reader.sessionId),
      until,
      signText(config, "file-address", claimOf(id, reader, until)),
    ];
    return { id, address: `/api/files/${id}/${ticket.join(".")}`, expiresAt: expiresAt.toISOString() };
  });
}

/** Whose file may be read at the address. Throws `not_found` for an address that is not ours, too old, or of a sign-in that has ended. */
export async function readAddress(
  { config }: Pick<Deps, "config">,
  checkSessions: CheckSessions,
  id: string,
  ticket: string,
): Promise<string> {
  const [user = "", session = "", until = "", signature = ""] = ticket.split(".");
  const [userId, sessionId] = [decodeUuid(user), decodeUuid(session)];
  const lasts = /^[\da-z]{1,8}$/.test(until) && Date.now() < Number.parseInt(until, 36) * hourMs;
  const isOurs =
    userId !== undefined &&
    sessionId !== undefined &&
    lasts &&
    isSignatureOf(config, "file-address", claimOf(id.toLowerCase(), { userId, sessionId }, until), signature);
  if (!isOurs || !(await checkSessions([sessionId])).has(sessionId)) throw new DomainError("not_found", "There is no such file");
  return userId;
}
