import type { TFunction } from "i18next";
import type { Activity } from "#contract/account/activity.ts";
import type { AuditDetails, ShownAction } from "#domain/audit.ts";

interface Words {
  t: TFunction<["access"]>;
  list: (items: readonly string[]) => string;
  number: (value: number) => string;
  money: (cents: number) => string;
}

type SignIn = AuditDetails["sign_in.completed"];
type Factor = SignIn["factor"] | NonNullable<SignIn["second"]>;

function factorsText({ t, list }: Words, factors: readonly Factor[]): string {
  return list(factors.map((factor) => t(`access:acts.factor.${factor}`)));
}

/** What each act is called. A new act that people see has no text until it is named here, and the compiler says so. */
const texts: { [Action in ShownAction]: (words: Words, details: AuditDetails[Action]) => string } = {
  "sign_up.confirmed": ({ t }) => t("access:acts.signUp"),
  "sign_in.completed": (words, { factor, second }) =>
    words.t("access:acts.signIn", { factors: factorsText(words, second ? [factor, second] : [factor]) }),
  "sign_in.blocked": ({ t }) => t("access:acts.blocked"),
  "step_up.completed": (words, { factor }) => words.t("access:acts.stepUp", { factors: factorsText(words, [factor]) }),
  "password.changed": ({ t }, { proof }) => t(`access:acts.password.${proof}`),
  "email_change.asked": ({ t }) => t("access:acts.emailAsked"),
  "email.changed": ({ t }) => t("access:acts.emailChanged"),
  "email.restored": ({ t }) => t("access:acts.emailRestored"),
  "ways.disowned": ({ t }) => t("access:acts.waysDisowned"),
  "account.given_back": ({ t }) => t("access:acts.accountGivenBack"),
  "second_factor.enabled": ({ t }) => t("access:acts.secondOn"),
  "second_factor.disabled": ({ t }, { proof }) => t(proof ? "access:acts.secondOffByLink" : "access:acts.secondOff"),
  "factor_reset.asked": ({ t }) => t("access:acts.resetAsked"),
  "factor_reset.mailed": ({ t }) => t("access:acts.resetMailed"),
  "factor_reset.cancelled": ({ t }, { by }) => t(`access:acts.resetCancelled.${by}`),
  "recovery_codes.created": ({ t }) => t("access:acts.codes"),
  "recovery_code.used": ({ t }, { left }) => t("access:acts.codeUsed", { count: left }),
  "google.linked": ({ t }) => t("access:acts.googleLinked"),
  "google.unlinked": ({ t }) => t("access:acts.googleUnlinked"),
  "passkey.added": ({ t }) => t("access:acts.passkeyAdded"),
  "passkey.removed": ({ t }) => t("access:acts.passkeyRemoved"),
  "passkey.refused": ({ t }) => t("access:acts.passkeyRefused"),
  "session.ended": ({ t }, details) =>
    details.reason === "signed_out_elsewhere"
      ? t("access:acts.ended.signed_out_elsewhere", { count: details.sessions })
      : t(`access:acts.ended.${details.reason}`),
  "trial.started": ({ t }) => t("access:acts.trialStarted"),
  "money_back.asked": ({ t }) => t("access:acts.moneyBackAsked"),
  "contract.withdrawn": ({ t }) => t("access:acts.contractWithdrawn"),
  "payments.checked": ({ t }) => t("access:acts.paymentsChecked"),
  "credits.given": ({ t, number }, { credits }) => t("access:acts.creditsGiven", { credits: number(credits) }),
  "credits.taken": ({ t, number }, { credits }) => t("access:acts.creditsTaken", { credits: number(credits) }),
  "refund.asked": ({ t, money }, { amountCents }) => t("access:acts.refundAsked", { amount: money(amountCents) }),
  "plan.cancelled": ({ t }) => t("access:acts.planCancelled"),
  "plan.resumed": ({ t }) => t("access:acts.planResumed"),
  "account.banned": ({ t }) => t("access:acts.banned"),
  "account.unbanned": ({ t }) => t("access:acts.unbanned"),
  "mail.sent_again": ({ t }) => t("access:acts.mailAgain"),
  "mail.readdressed": ({ t }) => t("access:acts.mailReaddressed"),
  "export.asked": ({ t }, { by }) => t(by === "team" ? "access:acts.exportMade" : "access:acts.exportAsked"),
  "export.downloaded": ({ t }) => t("access:acts.exportDownloaded"),
  "support_access.given": ({ t }) => t("access:activity.given"),
  "support_access.ended": ({ t }) => t("access:activity.ended"),
  "support_access.refused": ({ t }) => t("access:activity.refused"),
  "support_access.asked": ({ t }) => t("access:activity.asked"),
  "answer.read": ({ t }) => t("access:activity.read"),
  "deletion.asked": ({ t }) => t("access:acts.deletionAsked"),
  "deletion.undone": ({ t }) => t("access:acts.deletionUndone"),
  "role.granted": ({ t }, { role }) => t(`access:acts.${role}`),
  "role.taken": ({ t }) => t("access:acts.roleTaken"),
};

function isShown(action: string): action is ShownAction {
  return Object.hasOwn(texts, action);
}

/** The line about an event. A server that is newer than this page may send an act that it doesn't know. */
export function activityText(words: Words, { action, details }: Activity): string {
  if (!isShown(action)) return words.t("access:acts.other");
  // The server writes the details that belong to the action.
  const textOf: (words: Words, details: never) => string = texts[action];
  return textOf(words, details as never);
}

/** "203.0.113.0/24" → "203.0.113.x", "2001:db8:1::/48" → "2001:db8:1:x". */
export function networkText(network: string): string {
  return network.replace(/\.0\/24$/, ".x").replace(/::\/\d+$/, ":x");
}
