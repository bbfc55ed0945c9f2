import { deletionRoutes as contract } from "../../contract/deletion.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { clearCache } from "../../http/security-headers.ts";
import { steppedUpScope, viewerOf } from "../../http/viewer.ts";
import { createBrowserMemory } from "../auth/browser-memory.ts";
import { fewOfOneNetwork } from "../auth/callers.ts";
import { presentSession } from "../auth/hand-out.ts";
import type { Answers } from "../generations/answers.ts";
import { deleteAccount, restoreAccount } from "./service.ts";

/** For a signed-in scope. */
export function deletionRoutes(deps: Deps, answers: Answers): Routes {
  return steppedUpScope([
    async (app) => {
      app.post("/api/account/deletion", { schema: contract["POST /api/account/deletion"] }, async (request, reply) => {
        const asker = { userId: viewerOf(request).userId, network: clientNetwork(request.ip) };
        const deleted = await deleteAccount(deps, answers, asker, request.body.email);
        clearCache(reply);
        return reply.code(202).send(deleted);
      });
    },
  ]);
}

/** For a public scope of an application that registerTokens has prepared. */
export function restoringRoutes(deps: Deps): Routes {
  const browser = createBrowserMemory(deps);
  return async (app) => {
    app.post("/api/auth/restore", { schema: contract["POST /api/auth/restore"] }, async (request, reply) => {
      const caller = browser.callerOf(request);
      const signedIn = await fewOfOneNetwork(caller, () => restoreAccount(deps, request.body, caller));
      browser.keepDevice(reply, caller, signedIn.user);
      return presentSession(app, signedIn);
    });
  };
}
