/**
 * Google's sign-in, played by the package `emulate`. It knows the people below, and no password: on its page one picks a person. A
 * person's `sub` is new after each start.
 */
import { createEmulator } from "emulate";
import type { SandboxEnvironment } from "../environment.ts";

const people = [
  { email: "ada@example.com", name: "Ada Lovelace" },
  { email: "grace@example.com", name: "Grace Hopper" },
  // Google has not verified this address, so the product must refuse it.
  { email: "unverified@example.com", name: "Una Verified", email_verified: false },
];

/** Returns what stops it. */
export async function startGoogle({ host, token, publicUrl }: SandboxEnvironment, url: URL): Promise<() => Promise<void>> {
  const google = await createEmulator({
    service: "google",
    port: Number(url.port),
    hostname: host,
    baseUrl: url.origin,
    seed: {
      google: {
        users: people,
        oauth_clients: [
          {
            client_id: "tessera-sandbox",
            client_secret: `google_${token}`,
            name: "Tessera",
            redirect_uris: [new URL("/api/auth/google/callback", publicUrl).href],
          },
        ],
      },
    },
  });
  return () => google.close();
}
