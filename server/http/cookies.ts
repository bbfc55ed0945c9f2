/** The cookies the server sets. None of them authorises a call: only the bearer token does. */
import { parseCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface CookieKind {
  name: string;
  maxAgeSeconds: number;
  /** True for a cookie that has to come with a person whom another site sends here; it is sent only when they follow a link or a redirect. */
  fromOtherSites?: boolean;
}

/**
 * Under https each name has the prefix `__Host-`. Browsers accept such a cookie only from this host, so a neighbouring subdomain can't set
 * it, and only for the whole site.
 */
function nameOf({ name }: CookieKind, https: boolean): string {
  return https ? `__Host-${name}` : name;
}

export function readCookie(request: FastifyRequest, kind: CookieKind, https: boolean): string | undefined {
  return parseCookie(request.headers.cookie ?? "")[nameOf(kind, https)];
}

/** Sets a cookie that scripts can't read and other sites' requests don't carry (see `fromOtherSites`). An empty value deletes it. */
export function setCookie(reply: FastifyReply, kind: CookieKind, value: string, https: boolean): void {
  const maxAge = value === "" ? 0 : kind.maxAgeSeconds;
  const attributes = [
    "Path=/",
    `Max-Age=${maxAge}`,
    "HttpOnly",
    `SameSite=${kind.fromOtherSites ? "Lax" : "Strict"}`,
    ...(https ? ["Secure"] : []),
  ];
  reply.header("set-cookie", [`${nameOf(kind, https)}=${value}`, ...attributes].join("; "));
}
