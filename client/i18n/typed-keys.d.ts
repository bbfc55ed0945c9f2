import "i18next";
import type about from "./locales/en/about.json";
import type account from "./locales/en/account.json";
import type auth from "./locales/en/auth.json";
import type billing from "./locales/en/billing.json";
import type change from "./locales/en/change.json";
import type chat from "./locales/en/chat.json";
import type common from "./locales/en/common.json";
import type consent from "./locales/en/consent.json";
import type contact from "./locales/en/contact.json";
import type design from "./locales/en/design.json";
import type doctor from "./locales/en/doctor.json";
import type errors from "./locales/en/errors.json";
import type feedback from "./locales/en/feedback.json";
import type home from "./locales/en/home.json";
import type install from "./locales/en/install.json";
import type invoices from "./locales/en/invoices.json";
import type later from "./locales/en/later.json";
import type limits from "./locales/en/limits.json";
import type notFound from "./locales/en/not-found.json";
import type offline from "./locales/en/offline.json";
import type order from "./locales/en/order.json";
import type pictures from "./locales/en/pictures.json";
import type plans from "./locales/en/plans.json";
import type pricing from "./locales/en/pricing.json";
import type reading from "./locales/en/reading.json";
import type refunds from "./locales/en/refunds.json";
import type refusals from "./locales/en/refusals.json";
import type roi from "./locales/en/roi.json";
import type seo from "./locales/en/seo.json";
import type steps from "./locales/en/steps.json";
import type support from "./locales/en/support.json";
import type trial from "./locales/en/trial.json";
import type usage from "./locales/en/usage.json";
import type wallet from "./locales/en/wallet.json";

/** Keys are checked against the English files, so a key that does not exist is a compile error. */
declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "common";
    returnNull: false;
    resources: {
      about: typeof about;
      account: typeof account;
      auth: typeof auth;
      billing: typeof billing;
      change: typeof change;
      chat: typeof chat;
      common: typeof common;
      consent: typeof consent;
      contact: typeof contact;
      design: typeof design;
      doctor: typeof doctor;
      errors: typeof errors;
      feedback: typeof feedback;
      home: typeof home;
      install: typeof install;
      invoices: typeof invoices;
      limits: typeof limits;
      later: typeof later;
      "not-found": typeof notFound;
      offline: typeof offline;
      order: typeof order;
      pictures: typeof pictures;
      plans: typeof plans;
      pricing: typeof pricing;
      reading: typeof reading;
      refunds: typeof refunds;
      refusals: typeof refusals;
      roi: typeof roi;
      seo: typeof seo;
      steps: typeof steps;
      support: typeof support;
      trial: typeof trial;
      usage: typeof usage;
      wallet: typeof wallet;
    };
  }
}
