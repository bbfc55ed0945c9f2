/**
 * Google's sign-in, played by the package `emulate`. It knows the people below; on its page you pick a person and need no password. We add
 * to its tokens what the product needs: a `sub` that is the same after each start, and when the person signed in.
 */
import { createHash } from "node:crypto";
import { createEmulator } from "emulate";
import Fastify from "fastify";
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from "jose";
import type { SandboxEnvironment } from "../environment.ts";

const people = [
  { email: "ada@example.com", name: "Ada Lovelace" },
  { email: "alan@example.com", name: "Alan Turing" },
  { email: "edsger@example.com", name: "Edsger Dijkstra" },
  { email: "grace@example.com", name: "Grace Hopper" },
  // Google has not verified this address, so the product must refuse it.
  { email: "unverified@example.com", name: "Una Verified", email_verified: false },
];

const keyId = "of-the-sandbox";
const passedOn = ["content-type", "authorization"];

type SignAgain = (idToken: string) => Promise<string>;

/** The tokens are signed with a key of our own, which takes the place of the emulator's. */
async function createSigner(issuer: string): Promise<{ keys: object; signAgain: SignAgain }> {
  const { privateKey, publicKey } = await generateKeyPair("RS256");
  const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: keyId, use: "sig", alg: "RS256" }] };
  const signAgain: SignAgain = (idToken) => {
    const { email, ...claims } = decodeJwt<{ email: string }>(idToken);
    const sub = BigInt(`0x${createHash("sha256").update(email).digest("hex").slice(0, 17)}`).toString();
    // People are picked anew each time, so they have just signed in.
    const added = { email, iss: issuer, sub, auth_time: Math.floor(Date.now() / 1_000) };
    return new SignJWT({ ...claims, ...added }).setProtectedHeader({ alg: "RS256", kid: keyId }).sign(privateKey);
  };
  return { keys, signAgain };
}

/** Returns a function that stops it. `url` is its address for browsers and the product. */
export async function startGoogle({ host, token, publicUrl }: SandboxEnvironment, url: URL): Promise<() => Promise<void>> {
  const redirectUri = new URL("/api/auth/google/callback", publicUrl).href;
  const client = { client_id: "tessera-sandbox", client_secret: `google_${token}`, name: "Tessera", redirect_uris: [redirectUri] };
  const emulator = await createEmulator({ service: "google", port: 0, seed: { google: { users: people, oauth_clients: [client] } } });
  const { keys, signAgain } = await createSigner(url.origin);

  const app = Fastify({ forceCloseConnections: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, async (_request: unknown, body: Buffer) => body);
  app.get("/oauth2/v3/certs", async () => keys);
  app.route({
    method: ["GET", "POST"],
    url: "/*",
    async handler(request, reply) {
      const headers = Object.fromEntries(
        passedOn.flatMap((name) => (request.headers[name] ? [[name, String(request.headers[name])]] : [])),
      );
      const body = request.body instanceof Buffer ? new Uint8Array(request.body) : null;
      const answered = await fetch(new URL(request.url, emulator.url), { method: request.method, headers, body, redirect: "manual" });
      for (const name of ["content-type", "location"]) {
        const value = answered.headers.get(name);
        if (value !== null) reply.header(name, value);
      }
      reply.code(answered.status);
      if (request.url !== "/oauth2/token" || !answered.ok) return reply.send(Buffer.from(await answered.arrayBuffer()));
      const tokens = (await answered.json()) as { id_token: string };
      return reply.send(JSON.stringify({ ...tokens, id_token: await signAgain(tokens.id_token) }));
    },
  });
  await app.listen({ host, port: Number(url.port) });
  return async () => {
    await app.close();
    await emulator.close();
  };
}
