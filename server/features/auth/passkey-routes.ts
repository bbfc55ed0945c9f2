import type { FastifyRequest } from "fastify";
import { passkeyRoutes as contract } from "../../contract/auth/passkeys.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { steppedUpScope, viewerOf } from "../../http/viewer.ts";
import { createBrowserMemory } from "./browser-memory.ts";
import type { AuthDeps } from "./callers.ts";
import { fewOfOneNetwork } from "./callers.ts";
import { handOut } from "./hand-out.ts";
import { beginPasskeySignIn, signInByPasskey } from "./passkey-sign-in.ts";
import { addPasskey, beginPasskey, listPasskeys, removePasskey, renamePasskey } from "./passkeys.ts";
import type { Prover } from "./step-up.ts";
import { beginPasskeyStepUp } from "./step-up.ts";

const optionsOf = <Name extends keyof typeof contract>(name: Name) => ({ schema: contract[name] });

/** For a public scope of an application that registerTokens has prepared. */
export function publicPasskeyRoutes(deps: Deps): Routes {
  const browser = createBrowserMemory(deps);
  return async (app) => {
    app.post("/api/auth/passkey/options", optionsOf("POST /api/auth/passkey/options"), async (request) =>
      beginPasskeySignIn(deps, { network: clientNetwork(request.ip) }),
    );
    app.post("/api/auth/passkey", optionsOf("POST /api/auth/passkey"), async (request, reply) => {
      const caller = browser.callerOf(request);
      const signIn = () => signInByPasskey(deps, request.body.assertion, caller);
      return handOut(app, reply, { browser, caller }, await fewOfOneNetwork(caller, signIn));
    });
  };
}

/** For a signed-in scope. */
export function passkeyRoutes(deps: AuthDeps): Routes {
  const proverOf = (request: FastifyRequest): Prover => ({ ...viewerOf(request), network: clientNetwork(request.ip) });
  const changes: Routes = async (app) => {
    app.post("/api/account/passkeys/options", optionsOf("POST /api/account/passkeys/options"), async (request) =>
      beginPasskey(deps, proverOf(request)),
    );
    app.post("/api/account/passkeys", optionsOf("POST /api/account/passkeys"), async (request) =>
      addPasskey(deps, proverOf(request), request.body),
    );
    app.delete("/api/account/passkeys/:id", optionsOf("DELETE /api/account/passkeys/:id"), async (request, reply) => {
      await removePasskey(deps, proverOf(request), request.params.id);
      return reply.code(204).send(null);
    });
  };
  return async (app) => {
    app.get("/api/account/passkeys", optionsOf("GET /api/account/passkeys"), async (request) => ({
      passkeys: await listPasskeys(deps.db, viewerOf(request).userId),
    }));
    app.patch("/api/account/passkeys/:id", optionsOf("PATCH /api/account/passkeys/:id"), async (request) =>
      renamePasskey(deps.db, viewerOf(request).userId, request.params.id, request.body.name),
    );
    app.post("/api/account/step-up/passkey", optionsOf("POST /api/account/step-up/passkey"), async (request) =>
      beginPasskeyStepUp(deps, viewerOf(request)),
    );
    await steppedUpScope([changes])(app);
  };
}
