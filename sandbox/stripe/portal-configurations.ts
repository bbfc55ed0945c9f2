/** Configurations of the portal. The sandbox's page shows cards, invoices and cancelling, so a configuration may say no more than that. */
import type { ApiCall, ApiRoute } from "./api.ts";
import { listRoute, retrieveRoute } from "./api.ts";
import type { Context } from "./context.ts";
import { invalidRequest, missingParameter, notPlayed } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import type { Parameters } from "./parameters.ts";
import type { PortalConfiguration } from "./wire.ts";

type Features = PortalConfiguration["features"];

const none: Features = {
  customer_update: { allowed_updates: [], enabled: false },
  invoice_history: { enabled: false },
  payment_method_update: { enabled: false, payment_method_configuration: null },
  subscription_cancel: {
    cancellation_reason: {
      enabled: false,
      feedback_options: null,
      options: ["too_expensive", "missing_features", "switched_service", "unused", "other"],
    },
    enabled: false,
    mode: "at_period_end",
    proration_behavior: "none",
  },
  subscription_pause: { duration: { interval_options: [], type: "indefinite" }, enabled: false },
  subscription_update: {
    billing_cycle_anchor: null,
    default_allowed_updates: [],
    enabled: false,
    proration_behavior: "none",
    schedule_at_period_end: { conditions: [] },
    trial_update_behavior: "end_trial",
  },
};

/** The page always shows these. */
function readShown(features: Parameters | undefined, key: "invoice_history" | "payment_method_update" | "subscription_cancel"): boolean {
  const feature = features?.object(key);
  if (!feature) return false;
  feature.only("enabled", "true");
  if (key === "payment_method_update") feature.refuse("payment_method_configuration");
  if (key === "subscription_cancel") {
    feature.only("mode", "at_period_end");
    feature.only("proration_behavior", "none");
    feature.refuse("cancellation_reason");
  }
  return feature.boolean("enabled") ?? false;
}

/** The page never shows these. */
function refuseOthers(features: Parameters | undefined): void {
  features?.object("subscription_update")?.only("enabled", "false");
  features?.refuse("subscription_pause");
}

/** The page has forms for the address and for a tax id. */
const changeable = ["address", "tax_id"] as const;

function readCustomerUpdate(features: Parameters | undefined, before: Features["customer_update"]): Features["customer_update"] {
  const feature = features?.object("customer_update");
  if (!feature) return before;
  const enabled = feature.boolean("enabled") ?? before.enabled;
  const allowed = feature.texts("allowed_updates");
  const shown = allowed && changeable.filter((update) => allowed.includes(update));
  if (allowed && shown?.length !== allowed.length) throw notPlayed(feature.nameOf("allowed_updates"), changeable.join(" and "));
  return { allowed_updates: shown ?? before.allowed_updates, enabled };
}

function readFeatures(parameters: Parameters, before: Features): Features {
  const features = parameters.object("features");
  refuseOthers(features);
  const shown = (key: "invoice_history" | "payment_method_update" | "subscription_cancel") =>
    readShown(features, key) || before[key].enabled;
  return {
    ...before,
    customer_update: readCustomerUpdate(features, before.customer_update),
    invoice_history: { enabled: shown("invoice_history") },
    payment_method_update: { ...before.payment_method_update, enabled: shown("payment_method_update") },
    subscription_cancel: { ...before.subscription_cancel, enabled: shown("subscription_cancel") },
  };
}

function readProfile(parameters: Parameters, before: PortalConfiguration["business_profile"]): PortalConfiguration["business_profile"] {
  const profile = parameters.object("business_profile");
  const read = (key: keyof PortalConfiguration["business_profile"]) => {
    const text = profile?.text(key);
    return text === undefined ? before[key] : text;
  };
  return { headline: read("headline"), privacy_policy_url: read("privacy_policy_url"), terms_of_service_url: read("terms_of_service_url") };
}

function readReturnUrl(parameters: Parameters): string | null | undefined {
  const url = parameters.text("default_return_url");
  if (url && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
    throw invalidRequest(`Not a valid URL: ${url}`, "default_return_url", "url_invalid");
  return url;
}

function create({ context, parameters }: ApiCall): PortalConfiguration {
  if (!parameters.has("features")) throw missingParameter("features");
  parameters.refuse("login_page");
  const configuration: PortalConfiguration = {
    id: newId("bpc"),
    object: "billing_portal.configuration",
    active: true,
    application: null,
    business_profile: readProfile(parameters, { headline: null, privacy_policy_url: null, terms_of_service_url: null }),
    created: context.now(),
    default_return_url: readReturnUrl(parameters) ?? null,
    features: readFeatures(parameters, none),
    is_default: false,
    livemode: false,
    login_page: { enabled: false, url: null },
    metadata: parameters.metadata("metadata"),
    name: parameters.text("name") ?? null,
    updated: context.now(),
  };
  context.store.insert("billing_portal.configuration", configuration);
  emit(context, "billing_portal.configuration.created", configuration);
  return configuration;
}

function update({ context, id, parameters }: ApiCall): PortalConfiguration {
  const before = context.store.get("billing_portal.configuration", id);
  parameters.refuse("login_page");
  const name = parameters.text("name");
  const returnUrl = readReturnUrl(parameters);
  return saveChange(context, "billing_portal.configuration", "billing_portal.configuration.updated", {
    ...before,
    active: parameters.boolean("active") ?? before.active,
    business_profile: readProfile(parameters, before.business_profile),
    default_return_url: returnUrl === undefined ? before.default_return_url : returnUrl,
    features: readFeatures(parameters, before.features),
    metadata: parameters.metadata("metadata", before.metadata ?? {}),
    name: name === undefined ? before.name : name,
    updated: context.now(),
  });
}

/** The configuration of a portal session: the one that is named, else the sandbox's own, which shows everything the page has. */
export function configurationOf(context: Context, parameters: Parameters): string {
  const id = parameters.text("configuration");
  if (!id) return "bpc_sandbox";
  const configuration = context.store.reference("billing_portal.configuration", id, "configuration");
  if (!configuration.active) throw invalidRequest(`The configuration ${id} is not active.`, "configuration");
  return id;
}

export const portalConfigurationRoutes: ApiRoute[] = [
  { method: "POST", url: "/v1/billing_portal/configurations", handle: create },
  { method: "POST", url: "/v1/billing_portal/configurations/:id", handle: update },
  listRoute("billing_portal.configuration", "/v1/billing_portal/configurations", (parameters) => {
    const flags = [
      ["active", parameters.boolean("active")],
      ["is_default", parameters.boolean("is_default")],
    ] as const;
    return flags.flatMap(([path, value]) => (value === undefined ? [] : [{ path, operator: "=" as const, value }]));
  }),
  retrieveRoute("billing_portal.configuration", "/v1/billing_portal/configurations"),
];
