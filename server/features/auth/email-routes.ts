import { disownRoutes } from "../../contract/auth/disown.ts";
import { emailChangeRoutes as contract } from "../../contract/auth/email-change.ts";
import type { Routes } from "../../http/app-type.ts";
import { steppedUpScope, viewerOf } from "../../http/viewer.ts";
import { createBrowserMemory } from "./browser-memory.ts";
import type { AuthDeps } from "./callers.ts";
import { fewOfOneNetwork } from "./callers.ts";
import { askForEmailChange, cancelEmailChange, resendEmailChange } from "./change-email.ts";
import { confirmEmailChange, lookAtEmailChange } from "./confirm-email-change.ts";
import { disownWay, lookAtDisown } from "./disown-way.ts";
import { lookAtUndo, undoEmailChange } from "./undo-email-change.ts";

const optionsOf = <Name extends keyof typeof contract>(name: Name) => ({ schema: contract[name] });

/** For a public scope: what mailed links lead to. */
export function emailLinkRoutes(deps: AuthDeps): Routes {
  const browser = createBrowserMemory(deps);
  return async (app) => {
    app.post("/api/auth/email-change-link", optionsOf("POST /api/auth/email-change-link"), async (request) =>
      lookAtEmailChange(deps, request.body, browser.callerOf(request)),
    );
    app.post("/api/auth/confirm-email-change", optionsOf("POST /api/auth/confirm-email-change"), async (request) => {
      const caller = browser.callerOf(request);
      return fewOfOneNetwork(caller, () => confirmEmailChange(deps, request.body, caller));
    });
    app.post("/api/auth/undo-link", optionsOf("POST /api/auth/undo-link"), async (request) =>
      lookAtUndo(deps, request.body, browser.callerOf(request)),
    );
    app.post("/api/auth/undo-email-change", optionsOf("POST /api/auth/undo-email-change"), async (request) => {
      const caller = browser.callerOf(request);
      return fewOfOneNetwork(caller, () => undoEmailChange(deps, request.body, caller));
    });
    app.post("/api/auth/way-link", { schema: disownRoutes["POST /api/auth/way-link"] }, async (request) =>
      lookAtDisown(deps, request.body, browser.callerOf(request)),
    );
    app.post("/api/auth/disown-way", { schema: disownRoutes["POST /api/auth/disown-way"] }, async (request) => {
      const caller = browser.callerOf(request);
      return fewOfOneNetwork(caller, () => disownWay(deps, request.body, caller));
    });
  };
}

const checkEmailAnswer = { status: "check_email" } as const;

/** For a signed-in scope. */
export function emailChangeRoutes(deps: AuthDeps): Routes {
  const browser = createBrowserMemory(deps);
  const asking: Routes = async (app) => {
    app.post("/api/account/email", { schema: contract["POST /api/account/email"] }, async (request, reply) => {
      const caller = browser.callerOf(request);
      const given = { userId: viewerOf(request).userId, email: request.body.email };
      const linkId = await fewOfOneNetwork(caller, () => askForEmailChange(deps, given, caller));
      browser.keepEmailChange(reply, caller, linkId);
      return reply.code(202).send(checkEmailAnswer);
    });
  };
  return async (app) => {
    app.post("/api/account/email/resend", { schema: contract["POST /api/account/email/resend"] }, async (request, reply) => {
      const caller = browser.callerOf(request);
      const linkId = await fewOfOneNetwork(caller, () => resendEmailChange(deps, viewerOf(request).userId, caller));
      browser.keepEmailChange(reply, caller, linkId);
      return reply.code(202).send(checkEmailAnswer);
    });
    app.delete("/api/account/email", { schema: contract["DELETE /api/account/email"] }, async (request, reply) => {
      await cancelEmailChange(deps, viewerOf(request).userId);
      return reply.code(204).send(null);
    });
    await steppedUpScope([asking])(app);
  };
}
