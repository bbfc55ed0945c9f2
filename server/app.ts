/** The only list of what the API consists of: plugins first, then features, each in the scope that authorises it. */
import swagger from "@fastify/swagger";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import websocket from "@fastify/websocket";
import Fastify, { LogController } from "fastify";
import type { Deps } from "./deps.ts";
import { accountRoutes } from "./features/account/routes.ts";
import { adminRoutes } from "./features/admin/routes.ts";
import { authRoutes } from "./features/auth/routes.ts";
import { registerTokens } from "./features/auth/tokens.ts";
import { createReadViewer, createSessionCheck } from "./features/auth/viewer.ts";
import { readEntitlement } from "./features/billing/entitlement.ts";
import { billingRoutes, publicBillingRoutes } from "./features/billing/routes.ts";
import { webhookRoutes } from "./features/billing/webhook.ts";
import { catalogueRoutes } from "./features/catalogue/routes.ts";
import { clockRoutes } from "./features/clock/routes.ts";
import { contactRoutes } from "./features/contact/routes.ts";
import { conversationRoutes } from "./features/conversations/routes.ts";
import { creditRoutes } from "./features/credits/routes.ts";
import { createAnswers } from "./features/generations/answers.ts";
import { generationRoutes } from "./features/generations/routes.ts";
import type { App } from "./http/app-type.ts";
import { registerHealth } from "./http/health.ts";
import { registerProblems, sendNotFound } from "./http/problem.ts";
import { registerRateLimits } from "./http/rate-limits.ts";
import { realtimeRoutes } from "./http/realtime.ts";
import { registerSecurityHeaders, setSecurityHeaders } from "./http/security-headers.ts";
import { registerClient } from "./http/static.ts";
import { compileValidator } from "./http/validation.ts";
import { publicScope, signedInScope } from "./http/viewer.ts";

/** Prompts of 10,000 code points and their JSON fit with room; everything larger is refused before it is read. */
const bodyLimit = 512 * 1024;
const realtimePayloadLimit = 8 * 1024;

function securityOf({ config }: Deps): { https: boolean } {
  return { https: config.publicUrl.protocol === "https:" };
}

async function registerPlugins(app: App, deps: Deps): Promise<void> {
  registerProblems(app);
  registerSecurityHeaders(app, securityOf(deps));
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Tessera", version: "0.1.0" },
      components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    },
  });
  await registerRateLimits(app, deps.config);
  await app.register(websocket, { options: { maxPayload: realtimePayloadLimit } });
  await registerHealth(app, deps);
}

async function registerFeatures(app: App, deps: Deps): Promise<void> {
  await registerTokens(app, deps);
  const readViewer = createReadViewer(app, deps);
  const answers = createAnswers(deps);
  app.addHook("onClose", () => answers.close());
  const spendable = async (userId: string) => (await readEntitlement(deps.db, userId, deps.clock.now())).kinds(true);

  await app.register(
    publicScope(readViewer, [authRoutes(deps), catalogueRoutes(deps), publicBillingRoutes(deps), contactRoutes(deps), adminRoutes()]),
  );
  await app.register(
    signedInScope(readViewer, [
      accountRoutes(deps),
      billingRoutes(deps),
      creditRoutes(deps, spendable),
      generationRoutes(deps, answers),
      conversationRoutes(deps, answers),
    ]),
  );
  await app.register(webhookRoutes(deps));
  await app.register(realtimeRoutes(deps, readViewer, createSessionCheck(deps)));
  if (deps.config.sandbox) await app.register(clockRoutes(deps, deps.config.sandbox.token));
  app.get("/api/openapi.json", { schema: { hide: true } }, async () => app.swagger());
}

/** The same application in production and in tests. `clientFolder` holds the client built elsewhere than in `client/dist`. */
export async function buildApp(deps: Deps, clientFolder?: URL): Promise<App> {
  const app: App = Fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: deps.config.trustedProxies.length > 0 ? deps.config.trustedProxies : false,
    bodyLimit,
    // Addresses that can't be decoded, or hold more than any of ours: refused before the error handler's reach.
    frameworkErrors: (_error, _request, reply) => sendNotFound(setSecurityHeaders(reply, securityOf(deps))),
    forceCloseConnections: "idle",
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(compileValidator);
  await registerPlugins(app, deps);
  await registerFeatures(app, deps);
  await registerClient(app, deps.config.publicUrl, clientFolder);
  return app;
}
