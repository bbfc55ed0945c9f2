/** The policy allows no inline scripts or styles, nothing from other origins, and Trusted Types for every DOM write that can run a script. */
import type { FastifyInstance, FastifyReply } from "fastify";

const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types tessera-sw",
].join("; ");

/** For bytes that people or models made: if one opens them as a document, it loads and runs nothing. */
export const filePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

/** Tells the browser to drop the person's pictures and files, which it may have stored. Browsers do so only over https. */
export function clearCache(reply: FastifyReply): void {
  reply.header("clear-site-data", '"cache"');
}

function headersOf(https: boolean): Record<string, string> {
  return {
    "content-security-policy": contentSecurityPolicy,
    "x-content-type-options": "nosniff",
    // The address of a page that a mailed link opened contains its token, which must not get into any log on the way.
    "referrer-policy": "strict-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(self), payment=()",
    ...(https ? { "strict-transport-security": "max-age=63072000; includeSubDomains" } : {}),
  };
}

/** Exported for the responses that Fastify sends before any hook runs. */
export function setSecurityHeaders(reply: FastifyReply, { https }: { https: boolean }): FastifyReply {
  return reply.headers(headersOf(https));
}

export function registerSecurityHeaders(app: FastifyInstance, options: { https: boolean }): void {
  app.addHook("onRequest", async (_request, reply) => {
    setSecurityHeaders(reply, options);
  });
}
