/** Strict by default: nothing inline, nothing foreign, scripts by Trusted Types only. */
import type { FastifyInstance } from "fastify";

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

export function registerSecurityHeaders(app: FastifyInstance, options: { https: boolean }): void {
  app.addHook("onRequest", async (_request, reply) => {
    reply.header("content-security-policy", contentSecurityPolicy);
    reply.header("x-content-type-options", "nosniff");
    reply.header("referrer-policy", "strict-origin-when-cross-origin");
    reply.header("cross-origin-opener-policy", "same-origin");
    reply.header("cross-origin-resource-policy", "same-origin");
    reply.header("permissions-policy", "camera=(), geolocation=(), microphone=(self), payment=()");
    if (options.https) reply.header("strict-transport-security", "max-age=63072000; includeSubDomains");
  });
}
