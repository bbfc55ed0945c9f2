import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { readCookie, setCookie } from "../../http/cookies.ts";
import {
  addDevice,
  deviceCookie,
  emailChangeCookie,
  pendingCookie,
  readBegun,
  readBrowserName,
  readDevice,
  recoveryCookie,
  signUpCookie,
  writeBegun,
} from "./browser.ts";
import type { Caller } from "./callers.ts";
import { readTimeZone } from "./callers.ts";
import type { Person } from "./queries.ts";
import type { SignIn } from "./sessions.ts";

/** Reads and writes what a browser keeps between its calls (browser.ts). */
export function createBrowserMemory({ config }: Pick<Deps, "config">) {
  const https = config.publicUrl.protocol === "https:";
  return {
    callerOf: (request: FastifyRequest): Caller => ({
      network: clientNetwork(request.ip),
      userAgent: request.headers["user-agent"],
      timeZone: readTimeZone(request.headers["x-time-zone"]),
      signUps: readBegun(config, "sign-up", readCookie(request, signUpCookie, https)),
      recoveries: readBegun(config, "recovery", readCookie(request, recoveryCookie, https)),
      emailChanges: readBegun(config, "email-change", readCookie(request, emailChangeCookie, https)),
      devices: readCookie(request, deviceCookie, https),
      browser: readBrowserName(readCookie(request, pendingCookie, https)),
    }),
    keepPending(reply: FastifyReply, { browser }: Caller): void {
      setCookie(reply, pendingCookie, browser, https);
    },
    keepSignUp(reply: FastifyReply, caller: Caller, signUpId: string): void {
      setCookie(reply, signUpCookie, writeBegun(config, "sign-up", [signUpId, ...caller.signUps]), https);
    },
    keepRecovery(reply: FastifyReply, caller: Caller, linkId: string): void {
      setCookie(reply, recoveryCookie, writeBegun(config, "recovery", [linkId, ...caller.recoveries]), https);
    },
    keepEmailChange(reply: FastifyReply, caller: Caller, linkId: string): void {
      setCookie(reply, emailChangeCookie, writeBegun(config, "email-change", [linkId, ...caller.emailChanges]), https);
    },
    keepDevice(reply: FastifyReply, caller: Caller, user: Person): void {
      setCookie(reply, deviceCookie, addDevice(config, caller.devices, user, new Date()), https);
    },
    /** Remembers the browser again for people who signed in before we remembered browsers, or so long ago that the cookie has expired. */
    keepUnknownDevice(reply: FastifyReply, caller: Caller, signedIn: SignIn): void {
      if (readDevice(config, caller.devices, signedIn.user, new Date()) === undefined) this.keepDevice(reply, caller, signedIn.user);
    },
  };
}

export type BrowserMemory = ReturnType<typeof createBrowserMemory>;
