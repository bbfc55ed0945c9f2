import { DomainError } from "#domain/errors.ts";
import { factorResetRoutes as resetContract } from "../../contract/auth/factor-reset.ts";
import { authRoutes as contract } from "../../contract/auth/sign-in.ts";
import type { Deps } from "../../deps.ts";
import type { App, Routes } from "../../http/app-type.ts";
import { clearCache } from "../../http/security-headers.ts";
import type { BrowserMemory } from "./browser-memory.ts";
import { createBrowserMemory } from "./browser-memory.ts";
import { fewOfOneNetwork } from "./callers.ts";
import { confirmEmail, disownSignUp, lookAtLink } from "./confirmation.ts";
import { askForFactorReset, cancelMailedReset } from "./factor-reset.ts";
import { handOut, presentSession } from "./hand-out.ts";
import { removeLostFactor } from "./lost-factor.ts";
import { lookAtRecovery, requestRecovery, resetPassword } from "./recovery.ts";
import { answerFactor } from "./second-factor.ts";
import { endSession, refreshSession } from "./sessions.ts";
import { signIn } from "./sign-in.ts";
import { resendConfirmation, signUp } from "./sign-up.ts";

const checkEmailAnswer = { status: "check_email" } as const;

const optionsOf = <Name extends keyof typeof contract>(name: Name) => ({ schema: contract[name] });

function recoveryRoutes(app: App, deps: Deps, browser: BrowserMemory): void {
  app.post("/api/auth/recover", optionsOf("POST /api/auth/recover"), async (request, reply) => {
    const caller = browser.callerOf(request);
    const linkId = await fewOfOneNetwork(caller, () => requestRecovery(deps, request.body, caller));
    browser.keepRecovery(reply, caller, linkId);
    return reply.code(202).send(checkEmailAnswer);
  });
  app.post("/api/auth/recovery-link", optionsOf("POST /api/auth/recovery-link"), async (request) =>
    lookAtRecovery(deps, request.body, browser.callerOf(request)),
  );
  app.post("/api/auth/reset-password", optionsOf("POST /api/auth/reset-password"), async (request, reply) => {
    const caller = browser.callerOf(request);
    const { person, hasSecondFactor, outcome } = await fewOfOneNetwork(caller, () => resetPassword(deps, request.body, caller));
    // The new password makes all browsers unknown. We remember this one again, so that strangers' guesses don't lock its person out.
    // If there is a second factor, we wait until it was shown.
    if (!hasSecondFactor) browser.keepDevice(reply, caller, person);
    return { session: outcome && handOut(app, reply, { browser, caller }, outcome) };
  });
}

function factorResetRoutes(app: App, deps: Deps, browser: BrowserMemory): void {
  const resetOptions = <Name extends keyof typeof resetContract>(name: Name) => ({ schema: resetContract[name] });
  app.post("/api/auth/factor-reset", resetOptions("POST /api/auth/factor-reset"), async (request, reply) => {
    const caller = browser.callerOf(request);
    return reply.code(202).send(await fewOfOneNetwork(caller, () => askForFactorReset(deps, request.body, caller)));
  });
  app.post("/api/auth/factor-reset/cancel", resetOptions("POST /api/auth/factor-reset/cancel"), async (request, reply) => {
    await cancelMailedReset(deps, request.body, browser.callerOf(request));
    return reply.code(204).send(null);
  });
  app.post("/api/auth/factor-reset/remove", resetOptions("POST /api/auth/factor-reset/remove"), async (request, reply) => {
    const caller = browser.callerOf(request);
    return handOut(app, reply, { browser, caller }, await fewOfOneNetwork(caller, () => removeLostFactor(deps, request.body, caller)));
  });
}

/** For a public scope of an application that registerTokens has prepared. */
export function authRoutes(deps: Deps): Routes {
  const browser = createBrowserMemory(deps);
  return async (app) => {
    app.post("/api/auth/sign-up", optionsOf("POST /api/auth/sign-up"), async (request, reply) => {
      const { email, password, language } = request.body;
      const caller = browser.callerOf(request);
      const signUpId = await fewOfOneNetwork(caller, () => signUp(deps, { email, password, language }, caller));
      browser.keepSignUp(reply, caller, signUpId);
      return reply.code(202).send(checkEmailAnswer);
    });
    app.post("/api/auth/resend-confirmation", optionsOf("POST /api/auth/resend-confirmation"), async (request, reply) => {
      const caller = browser.callerOf(request);
      await fewOfOneNetwork(caller, () => resendConfirmation(deps, request.body, caller));
      return reply.code(202).send(checkEmailAnswer);
    });
    app.post("/api/auth/link", optionsOf("POST /api/auth/link"), async (request) =>
      lookAtLink(deps, request.body, browser.callerOf(request)),
    );
    app.post("/api/auth/confirm", optionsOf("POST /api/auth/confirm"), async (request, reply) => {
      const caller = browser.callerOf(request);
      return handOut(app, reply, { browser, caller }, await fewOfOneNetwork(caller, () => confirmEmail(deps, request.body, caller)));
    });
    app.post("/api/auth/disown", optionsOf("POST /api/auth/disown"), async (request, reply) => {
      await disownSignUp(deps, request.body);
      return reply.code(204).send(null);
    });
    recoveryRoutes(app, deps, browser);
    factorResetRoutes(app, deps, browser);
    app.post("/api/auth/sign-in", optionsOf("POST /api/auth/sign-in"), async (request, reply) => {
      const caller = browser.callerOf(request);
      return handOut(app, reply, { browser, caller }, await fewOfOneNetwork(caller, () => signIn(deps, request.body, caller)));
    });
    app.post("/api/auth/factor", optionsOf("POST /api/auth/factor"), async (request, reply) => {
      const caller = browser.callerOf(request);
      return handOut(app, reply, { browser, caller }, await fewOfOneNetwork(caller, () => answerFactor(deps, request.body, caller)));
    });
    app.post("/api/auth/refresh", optionsOf("POST /api/auth/refresh"), async (request, reply) => {
      const caller = browser.callerOf(request);
      const signedIn = await refreshSession(deps, request.body.refresh_token, caller).catch((error: unknown) => {
        // Another device deleted the account, and this one has its pictures too.
        if (error instanceof DomainError && error.code === "account_deleted") clearCache(reply);
        throw error;
      });
      browser.keepUnknownDevice(reply, caller, signedIn);
      return presentSession(app, signedIn);
    });
    app.post("/api/auth/sign-out", optionsOf("POST /api/auth/sign-out"), async (request, reply) => {
      await endSession(deps, request.body.refresh_token, browser.callerOf(request));
      clearCache(reply);
      return reply.code(204).send(null);
    });
  };
}
