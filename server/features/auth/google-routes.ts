/** Sends browsers to Google and takes them back. No address contains a token: the browser returns with a code, and gets its session by a call. */
import type { OAuth2Namespace } from "@fastify/oauth2";
import oauth2 from "@fastify/oauth2";
import type { FastifyReply, FastifyRequest } from "fastify";
import { DomainError } from "#domain/errors.ts";
import { googleMs } from "#domain/periods.ts";
import { googleRoutes as contract } from "../../contract/auth/google.ts";
import type { Deps } from "../../deps.ts";
import type { App, Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { readCookie, setCookie } from "../../http/cookies.ts";
import { steppedUpScope, viewerOf } from "../../http/viewer.ts";
import type { Google } from "../../providers/google.ts";
import { googleRefused, googleTimeoutMs, googleUnavailable } from "../../providers/google.ts";
import { createBrowserMemory } from "./browser-memory.ts";
import { fewOfOneNetwork } from "./callers.ts";
import { finishGoogle, googleExpired, keepAnswer } from "./google.ts";
import type { Begun } from "./google-cookies.ts";
import { answerCookie, begunCookie, noncesOf, readBegun, readGoogleAnswer, writeAnswer, writeBegun } from "./google-cookies.ts";
import { linkGoogle, unlinkGoogle } from "./google-link.ts";
import { askToSignInAfresh } from "./google-step-up.ts";
import { handOut } from "./hand-out.ts";

declare module "fastify" {
  interface FastifyInstance {
    googleOAuth2?: OAuth2Namespace;
  }
}

const callbackPath = "/api/auth/google/callback";

type GoogleDeps = Pick<Deps, "config" | "db" | "clock" | "live" | "log" | "google" | "settings">;

const isHttps = ({ config }: Pick<Deps, "config">) => config.publicUrl.protocol === "https:";

/** Gives the application the OAuth client, with state and PKCE. To be called before any route is registered. */
export async function registerGoogle(app: App, deps: GoogleDeps): Promise<void> {
  const { google } = deps;
  if (!google) return;
  await app.register(oauth2, {
    name: "googleOAuth2",
    scope: ["openid", "email"],
    credentials: {
      client: { id: google.clientId, secret: google.clientSecret },
      auth: {
        ...{ authorizeHost: google.authorizeUrl.origin, authorizePath: google.authorizeUrl.pathname },
        ...{ tokenHost: google.tokenUrl.origin, tokenPath: google.tokenUrl.pathname },
      },
      http: { timeout: googleTimeoutMs },
      options: { authorizationMethod: "body" },
    },
    callbackUri: new URL(callbackPath, deps.config.publicUrl).href,
    pkce: "S256",
    hostPrefixedCookies: isHttps(deps),
    cookie: { path: "/", httpOnly: true, sameSite: "lax", secure: isHttps(deps), maxAge: googleMs / 1_000 },
  });
}

/** Returns the text if it is a path of ours, otherwise null, so that nobody is sent to another site. */
function ownPath(text: string | undefined, publicUrl: URL): string | null {
  if (text === undefined || !/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(text)) return null;
  const url = URL.parse(text, publicUrl.href);
  return url?.origin === publicUrl.origin ? `${url.pathname}${url.search}${url.hash}` : null;
}

/** Throws `not_found` if this installation has no sign-in with Google. */
function clientsOf(app: App, deps: GoogleDeps): { google: Google; oauth: OAuth2Namespace } {
  if (!deps.google || !app.googleOAuth2) throw new DomainError("not_found", "Signing in with Google is not set up here");
  return { google: deps.google, oauth: app.googleOAuth2 };
}

/** Returns the address at Google to open, and notes in the browser what was begun. */
async function begin(
  app: App,
  deps: GoogleDeps,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  given: Pick<Begun, "purpose" | "returnTo" | "userId">,
  parameters: Record<string, string> = {},
): Promise<{ url: string }> {
  const { oauth } = clientsOf(app, deps);
  const url = new URL(await oauth.generateAuthorizationUri(request, reply));
  const state = url.searchParams.get("state") ?? "";
  const added = { nonce: noncesOf(deps.config, state)[0], prompt: "select_account", ...parameters };
  for (const [name, value] of Object.entries(added)) url.searchParams.set(name, value);
  setCookie(reply, begunCookie, writeBegun(deps.config, { state, at: Date.now(), ...given }), isHttps(deps));
  return { url: url.href };
}

/** True if Google refused the code; false if Google could not be reached. */
function isRefusal(error: unknown): boolean {
  const { data, output } = error as { data?: { isResponseError?: boolean }; output?: { statusCode?: number } };
  return data?.isResponseError === true && (output?.statusCode ?? 500) < 500;
}

/** Exchanges the code for Google's answer and keeps it. Returns its id. Throws the refusals `google_…`. */
async function receive(
  app: App,
  deps: GoogleDeps,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  begun: Begun | undefined,
): Promise<string> {
  const { google, oauth } = clientsOf(app, deps);
  const { state, code, error } = request.query as Record<string, unknown>;
  if (!begun || state !== begun.state) throw googleExpired();
  if (error === "access_denied") throw new DomainError("google_denied", "You did not let Google sign you in");
  if (typeof code !== "string") throw googleRefused();
  const { token } = await oauth.getAccessTokenFromAuthorizationCodeFlow(request, reply).catch((reason: unknown) => {
    throw reason instanceof Error && reason.message === "Invalid state"
      ? googleExpired()
      : isRefusal(reason)
        ? googleRefused()
        : googleUnavailable();
  });
  const account = await google.readIdToken(token.id_token ?? "", noncesOf(deps.config, begun.state));
  return keepAnswer(deps.db, account, begun.userId);
}

/** The page to return to. Its query has the refusal or, after success, the purpose. */
function pageAfter(begun: Begun | undefined, refusal?: string): string {
  const { purpose, returnTo } = begun ?? { purpose: "sign-in", returnTo: null };
  const google = refusal ?? purpose;
  if (purpose === "sign-in") return `/auth?${new URLSearchParams({ ...(returnTo === null ? {} : { return: returnTo }), google })}`;
  const page = new URL(returnTo ?? "/profile/security", "http://own");
  page.searchParams.set("google", google);
  return `${page.pathname}${page.search}${page.hash}`;
}

/** For the public scope: the way to Google and the address at which Google sends people back. */
export function googleRoutes(deps: GoogleDeps): Routes {
  const { config } = deps;
  const browser = createBrowserMemory(deps);
  return async (app) => {
    app.post("/api/auth/google", { schema: contract["POST /api/auth/google"] }, async (request, reply) =>
      begin(app, deps, { request, reply }, { purpose: "sign-in", returnTo: ownPath(request.body.return, config.publicUrl), userId: null }),
    );
    app.post("/api/auth/google/finish", { schema: contract["POST /api/auth/google/finish"] }, async (request, reply) => {
      const caller = browser.callerOf(request);
      const given = { answerId: readGoogleAnswer(deps, request), language: request.body.language };
      const outcome = await fewOfOneNetwork(caller, () => finishGoogle(deps, given, caller));
      if ("email" in outcome) return { status: "own_way_first" as const, email: outcome.email };
      return handOut(app, reply, { browser, caller }, outcome);
    });
    app.get(callbackPath, { schema: { hide: true } }, async (request, reply) => {
      const begun = readBegun(config, readCookie(request, begunCookie, isHttps(deps)), new Date());
      setCookie(reply, begunCookie, "", isHttps(deps));
      try {
        const id = await receive(app, deps, { request, reply }, begun);
        setCookie(reply, answerCookie, writeAnswer(config, id), isHttps(deps));
        return await reply.redirect(pageAfter(begun), 303);
      } catch (error) {
        if (!(error instanceof DomainError) || !error.code.startsWith("google_")) throw error;
        deps.log.info({ code: error.code }, "a sign-in with Google was refused");
        return await reply.redirect(pageAfter(begun, error.code), 303);
      }
    });
  };
}

/** For a signed-in scope. */
export function googleAccountRoutes(deps: GoogleDeps): Routes {
  const askerOf = (request: FastifyRequest) => ({ ...viewerOf(request), network: clientNetwork(request.ip) });
  const changes: Routes = async (app) => {
    app.post("/api/account/google/begin", { schema: contract["POST /api/account/google/begin"] }, async (request, reply) =>
      begin(app, deps, { request, reply }, { purpose: "link", returnTo: null, userId: viewerOf(request).userId }),
    );
    app.post("/api/account/google", { schema: contract["POST /api/account/google"] }, async (request, reply) => {
      const linked = await linkGoogle(deps, askerOf(request), readGoogleAnswer(deps, request));
      setCookie(reply, answerCookie, "", isHttps(deps));
      return linked;
    });
    app.delete("/api/account/google", { schema: contract["DELETE /api/account/google"] }, async (request, reply) => {
      await unlinkGoogle(deps, askerOf(request));
      return reply.code(204).send(null);
    });
  };
  return async (app) => {
    app.post("/api/account/step-up/google", { schema: contract["POST /api/account/step-up/google"] }, async (request, reply) => {
      const { userId } = viewerOf(request);
      const returnTo = ownPath(request.body.return, deps.config.publicUrl);
      const asked = await askToSignInAfresh(deps, userId);
      return begin(app, deps, { request, reply }, { purpose: "step-up", returnTo, userId }, asked);
    });
    await steppedUpScope([changes])(app);
  };
}
