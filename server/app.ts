/** The only list of the API's parts: first the plugins, then the features, each in the scope that authorises it. */
import swagger from "@fastify/swagger";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import websocket from "@fastify/websocket";
import Fastify, { LogController } from "fastify";
import type { Deps } from "./deps.ts";
import { avatarRoutes, publicAvatarRoutes } from "./features/account/avatar-routes.ts";
import { accountRoutes } from "./features/account/routes.ts";
import { adminInboxRoutes } from "./features/admin/inbox-routes.ts";
import { adminModelRoutes } from "./features/admin/models-routes.ts";
import { adminNeedsRoutes } from "./features/admin/needs-routes.ts";
import { adminPeopleRoutes } from "./features/admin/people-routes.ts";
import { adminRoutes, publicAdminRoutes } from "./features/admin/routes.ts";
import { adminViewRoutes } from "./features/admin/views-routes.ts";
import { adminWorkRoutes } from "./features/admin/work-routes.ts";
import { emailChangeRoutes, emailLinkRoutes } from "./features/auth/email-routes.ts";
import { factorRoutes } from "./features/auth/factor-routes.ts";
import { googleAccountRoutes, googleRoutes, registerGoogle } from "./features/auth/google-routes.ts";
import { passkeyRoutes, publicPasskeyRoutes } from "./features/auth/passkey-routes.ts";
import { authRoutes } from "./features/auth/routes.ts";
import { sessionRoutes } from "./features/auth/session-routes.ts";
import { registerTokens } from "./features/auth/tokens.ts";
import { createReadViewer, createSessionCheck } from "./features/auth/viewer.ts";
import { readEntitlement } from "./features/billing/entitlement.ts";
import { invoiceRoutes, payRoutes } from "./features/billing/invoice-routes.ts";
import { moneyBackRoutes } from "./features/billing/money-back-routes.ts";
import { orderRoutes } from "./features/billing/order-routes.ts";
import { planChangeRoutes } from "./features/billing/plan-change-routes.ts";
import { billingRoutes, publicBillingRoutes } from "./features/billing/routes.ts";
import { billingTeamRoutes } from "./features/billing/team-routes.ts";
import { transferRoutes } from "./features/billing/transfer-routes.ts";
import { webhookRoutes } from "./features/billing/webhook.ts";
import { withdrawalRoutes } from "./features/billing/withdrawal-routes.ts";
import { followPauses } from "./features/catalogue/pauses.ts";
import { catalogueRoutes } from "./features/catalogue/routes.ts";
import { changedPrices, switchedOff, toldModel } from "./features/catalogue/service.ts";
import { followSwitches } from "./features/catalogue/switches.ts";
import { clockRoutes } from "./features/clock/routes.ts";
import { contactRoutes } from "./features/contact/routes.ts";
import { conversationRoutes } from "./features/conversations/routes.ts";
import { creditRoutes } from "./features/credits/routes.ts";
import { deletionRoutes, restoringRoutes } from "./features/deletion/routes.ts";
import { figureRoutes } from "./features/figures/routes.ts";
import { fileRoutes, publicFileRoutes } from "./features/files/routes.ts";
import { createAnswers } from "./features/generations/answers.ts";
import { generationRoutes } from "./features/generations/routes.ts";
import { notificationRoutes, unsubscribeRoutes } from "./features/notifications/routes.ts";
import { ownDataRoutes } from "./features/own-data/routes.ts";
import { followSettings } from "./features/settings/follow.ts";
import { settingsRoutes } from "./features/settings/routes.ts";
import { supportAccessRoutes } from "./features/support-access/routes.ts";
import { registerAddresses } from "./http/addresses.ts";
import type { App } from "./http/app-type.ts";
import { limitBodyTime, usualBodyMs } from "./http/body-timeout.ts";
import { headersTimeoutMs, limitConnections } from "./http/connection-limits.ts";
import type { Draining } from "./http/draining.ts";
import { registerDraining } from "./http/draining.ts";
import { registerHealth } from "./http/health.ts";
import { HeldConnections } from "./http/held-connections.ts";
import { registerProblems, sendNotFound } from "./http/problem.ts";
import { registerRateLimits } from "./http/rate-limits.ts";
import { realtimeRoutes } from "./http/realtime.ts";
import { registerSecurityContact } from "./http/security-contact.ts";
import { registerSecurityHeaders, setSecurityHeaders } from "./http/security-headers.ts";
import { compileSerializer } from "./http/serialization.ts";
import { registerClient } from "./http/static.ts";
import { compileValidator } from "./http/validation.ts";
import { publicScope, signedInScope } from "./http/viewer.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Stops accepting connections. Resolves when all accepted requests have ended, or after `timeoutMs`. Call it before `close`. */
    drain(timeoutMs: number): Promise<void>;
  }
}

/** Bytes; enough for a prompt of 10,000 code points as JSON. A larger body is refused before it is read. */
const bodyLimit = 512 * 1024;
const realtimePayloadLimit = 8 * 1024;

function securityOf({ config }: Deps): { https: boolean } {
  return { https: config.publicUrl.protocol === "https:" };
}

async function registerPlugins(app: App, deps: Deps, draining: Draining): Promise<void> {
  registerProblems(app);
  registerSecurityHeaders(app, securityOf(deps));
  registerAddresses(app);
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Tessera", version: "0.1.0" },
      components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    },
  });
  await registerRateLimits(app, deps);
  await app.register(websocket, { options: { maxPayload: realtimePayloadLimit } });
  await registerHealth(app, deps, draining);
  registerSecurityContact(app, deps.config);
}

async function registerFeatures(app: App, deps: Deps, draining: Draining): Promise<void> {
  await registerTokens(app, deps);
  await registerGoogle(app, deps);
  const readViewer = createReadViewer(app, deps);
  const answers = createAnswers(deps);
  app.addHook("onClose", () => answers.close());
  draining.alsoWaitFor((timeoutMs) => answers.untilNoneRuns(timeoutMs));
  const held = new HeldConnections(deps, createSessionCheck(deps));
  const stopChecking = held.start();
  app.addHook("onClose", async () => stopChecking());
  const spendable = async (userId: string) => (await readEntitlement(deps.db, userId, deps.clock.now())).kinds(true);

  await app.register(
    publicScope(readViewer, [
      authRoutes(deps),
      googleRoutes(deps),
      restoringRoutes(deps),
      publicPasskeyRoutes(deps),
      catalogueRoutes(deps),
      publicBillingRoutes(deps),
      payRoutes(deps),
      contactRoutes(deps),
      unsubscribeRoutes(deps),
      publicAvatarRoutes(deps),
      publicFileRoutes(deps),
      emailLinkRoutes(deps),
      publicAdminRoutes(),
    ]),
  );
  await app.register(
    signedInScope(readViewer, [
      accountRoutes(deps),
      avatarRoutes(deps),
      sessionRoutes(deps),
      ownDataRoutes(deps),
      supportAccessRoutes(deps),
      fileRoutes(deps),
      figureRoutes(deps),
      deletionRoutes(deps, answers),
      notificationRoutes(deps),
      factorRoutes(deps),
      googleAccountRoutes(deps),
      emailChangeRoutes(deps),
      passkeyRoutes(deps),
      billingRoutes(deps),
      invoiceRoutes(deps),
      moneyBackRoutes(deps),
      withdrawalRoutes(deps),
      orderRoutes(deps),
      planChangeRoutes(deps),
      transferRoutes(deps),
      billingTeamRoutes(deps),
      adminRoutes(deps),
      adminInboxRoutes(deps),
      adminModelRoutes(deps),
      adminPeopleRoutes(deps),
      adminViewRoutes(deps),
      adminNeedsRoutes(deps),
      adminWorkRoutes(deps),
      settingsRoutes(deps),
      creditRoutes(deps, spendable),
      generationRoutes(deps, answers, held),
      conversationRoutes(deps, answers),
    ]),
  );
  await app.register(webhookRoutes(deps));
  await app.register(realtimeRoutes(deps, readViewer, held, draining));
  if (deps.config.sandbox) await app.register(clockRoutes(deps, deps.config.sandbox.token));
  app.get("/api/openapi.json", { schema: { hide: true } }, async () => app.swagger());
}

/** Builds the same application for production and tests. Give `clientFolder` if the built client is not in `client/dist`. */
export async function buildApp(deps: Deps, clientFolder?: URL): Promise<App> {
  const app: App = Fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: deps.config.trustedProxies.length > 0 ? deps.config.trustedProxies : false,
    bodyLimit,
    // Fastify refuses addresses it can't decode and parameters that are too long before our error handler can see them.
    frameworkErrors: (_error, _request, reply) => sendNotFound(setSecurityHeaders(reply, securityOf(deps))),
    forceCloseConnections: "idle",
    // A process that is shutting down still answers the requests it has accepted (http/draining.ts).
    return503OnClosing: false,
    // Slower routes raise it (http/body-timeout.ts).
    requestTimeout: usualBodyMs,
    keepAliveTimeout: 65_000,
    http: { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: headersTimeoutMs / 4 },
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  limitBodyTime(app);
  limitConnections(app.server, deps.config.connectionsPerAddress, deps.config.trustedProxies);
  const draining = registerDraining(app);
  const stopFollowing = [followPauses(deps), await followSwitches(deps), await followSettings(deps)];
  app.decorate("drain", (timeoutMs: number) => draining.drain(timeoutMs));
  await registerPlugins(app, deps, draining);
  await registerFeatures(app, deps, draining);
  app.addHook("onClose", async () => {
    for (const stop of stopFollowing) stop();
  });
  const { config, clock } = deps;
  const site = {
    publicUrl: config.publicUrl,
    google: config.google !== undefined,
    ownModels: config.ownModels.map(toldModel),
    clock,
    switchedOff: () => switchedOff(deps),
    changedPrices: () => changedPrices(deps),
  };
  await registerClient(app, site, clientFolder);
  return app;
}
