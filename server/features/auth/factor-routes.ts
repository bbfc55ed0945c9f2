import type { FastifyRequest } from "fastify";
import { factorResetRoutes as resetContract } from "../../contract/auth/factor-reset.ts";
import { factorRoutes as contract } from "../../contract/auth/factors.ts";
import type { Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { steppedUpScope, viewerOf } from "../../http/viewer.ts";
import type { AuthDeps } from "./callers.ts";
import { cancelOwnReset, readFactorReset } from "./factor-reset.ts";
import { beginTotp, confirmTotp, readFactors, renewRecoveryCodes, turnOffTotp } from "./factors.ts";

/** For a signed-in scope. */
export function factorRoutes(deps: AuthDeps): Routes {
  const askerOf = (request: FastifyRequest) => ({ ...viewerOf(request), network: clientNetwork(request.ip) });
  const optionsOf = <Name extends keyof typeof contract>(name: Name) => ({ schema: contract[name] });
  const changes: Routes = async (app) => {
    app.post("/api/account/factors/totp", optionsOf("POST /api/account/factors/totp"), async (request) =>
      beginTotp(deps, askerOf(request)),
    );
    app.post("/api/account/factors/totp/confirm", optionsOf("POST /api/account/factors/totp/confirm"), async (request) => ({
      recoveryCodes: await confirmTotp(deps, askerOf(request), request.body),
    }));
    app.delete("/api/account/factors/totp", optionsOf("DELETE /api/account/factors/totp"), async (request, reply) => {
      await turnOffTotp(deps, askerOf(request));
      return reply.code(204).send(null);
    });
    app.post("/api/account/factors/recovery-codes", optionsOf("POST /api/account/factors/recovery-codes"), async (request) => ({
      recoveryCodes: await renewRecoveryCodes(deps, askerOf(request)),
    }));
  };
  return async (app) => {
    app.get("/api/account/factors", optionsOf("GET /api/account/factors"), async (request) =>
      readFactors(deps.db, viewerOf(request).userId),
    );
    // Cancelling needs no factor: it can only keep somebody out, and a person who sees a stranger's request must be able to act fast.
    const resetOptions = <Name extends keyof typeof resetContract>(name: Name) => ({ schema: resetContract[name] });
    app.get("/api/account/factor-reset", resetOptions("GET /api/account/factor-reset"), async (request) => ({
      reset: await readFactorReset(deps.db, viewerOf(request).userId, deps.clock.now()),
    }));
    app.delete("/api/account/factor-reset", resetOptions("DELETE /api/account/factor-reset"), async (request, reply) => {
      await cancelOwnReset(deps, askerOf(request));
      return reply.code(204).send(null);
    });
    await steppedUpScope([changes])(app);
  };
}
