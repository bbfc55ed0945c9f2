/** The cookies the server sets. None of them authorises a call: only the bearer token does. */
import type { FastifyReply, FastifyRequest } from "fastify";

export interface CookieKind {
  name: string;
  path: string;
  maxAgeSeconds: number;
  /** True for a cookie that has to come with a person whom another site sends here; it is sent only when they follow a link or a redirect. */
  fromOtherSites?: boolean;
}

/**
 * Under https a cookie for the whole site gets the prefix `__Host-`. Browsers accept such a cookie only from this host, so a
 * neighbouring subdomain can't set it. One for some addresses alone can't have that prefix and gets `__Secure-`: it is accepted
 * only over https.
 */
function nameOf({ name, path }: CookieKind, https: boolean): string {
  if (!https) return name;
  return path === "/" ? `__Host-${name}` : `__Secure-${name}`;
}

export function readCookie(request: FastifyRequest, kind: CookieKind, https: boolean): string | undefined {
  const name = nameOf(kind, https);
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const [key = "", ...value] = pair.split("=");
    if (key.trim() === name) return value.join("=").trim();
  }
  return undefined;
}

/** Sets a cookie that scripts can't read and that browsers don't send with requests from other sites (see `fromOtherSites`). An empty value deletes it. */
export function setCookie(reply: FastifyReply, kind: CookieKind, value: string, https: boolean): void {
  const maxAge = value === "" ? 0 : kind.maxAgeSeconds;
  const attributes = [
    `Path=${kind.path}`,
    `Max-Age=${maxAge}`,
    "HttpOnly",
    `SameSite=${kind.fromOtherSites ? "Lax" : "Strict"}`,
    ...(https ? ["Secure"] : []),
  ];
  reply.header("set-cookie", [`${nameOf(kind, https)}=${value}`, ...attributes].join("; "));
}
