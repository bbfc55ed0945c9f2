import type { TFunction } from "i18next";
import type { Activity } from "#contract/security.ts";
import type { AuditDetails, ShownAction } from "#domain/audit.ts";

interface Words {
  t: TFunction<["account", "access"]>;
  list: (items: readonly string[]) => string;
  number: (value: number) => string;
  money: (cents: number) => string;
}

type SignIn = AuditDetails["sign_in.completed"];
type Factor = SignIn["factor"] | NonNullable<SignIn["second"]>;

function factorsText({ t, list }: Words, factors: readonly Factor[]): string {
  return list(factors.map((factor) => t(`activity.factor.${factor}`)));
}

/** What each act is called. A new act that people see has no text until it is named here, and the compiler says so. */
const texts: { [Action in ShownAction]: (words: Words, details: AuditDetails[Action]) => string } = {
  "sign_up.confirmed": ({ t }) => t("activity.signUp"),
  "sign_in.completed": (words, { factor, second }) =>
    words.t("activity.signIn", { factors: factorsText(words, second ? [factor, second] : [factor]) }),
  "sign_in.blocked": ({ t }) => t("activity.blocked"),
  "step_up.completed": (words, { factor }) => words.t("activity.stepUp", { factors: factorsText(words, [factor]) }),
  "password.changed": ({ t }, { proof }) => t(`activity.password.${proof}`),
  "email_change.asked": ({ t }) => t("activity.emailAsked"),
  "email.changed": ({ t }) => t("activity.emailChanged"),
  "email.restored": ({ t }) => t("activity.emailRestored"),
  "ways.disowned": ({ t }) => t("activity.waysDisowned"),
  "account.given_back": ({ t }) => t("activity.accountGivenBack"),
  "second_factor.enabled": ({ t }) => t("activity.secondOn"),
  "second_factor.disabled": ({ t }, { proof }) => t(proof ? "activity.secondOffByLink" : "activity.secondOff"),
  "factor_reset.asked": ({ t }) => t("activity.resetAsked"),
  "factor_reset.mailed": ({ t }) => t("activity.resetMailed"),
  "factor_reset.cancelled": ({ t }, { by }) => t(`activity.resetCancelled.${by}`),
  "recovery_codes.created": ({ t }) => t("activity.codes"),
  "recovery_code.used": ({ t }, { left }) => t("activity.codeUsed", { count: left }),
  "google.linked": ({ t }) => t("activity.googleLinked"),
  "google.unlinked": ({ t }) => t("activity.googleUnlinked"),
  "passkey.added": ({ t }) => t("activity.passkeyAdded"),
  "passkey.removed": ({ t }) => t("activity.passkeyRemoved"),
  "passkey.refused": ({ t }) => t("activity.passkeyRefused"),
  "session.ended": ({ t }, details) =>
    details.reason === "signed_out_elsewhere"
      ? t("activity.ended.signed_out_elsewhere", { count: details.sessions })
      : t(`activity.ended.${details.reason}`),
  "trial.started": ({ t }) => t("activity.trialStarted"),
  "money_back.asked": ({ t }) => t("activity.moneyBackAsked"),
  "contract.withdrawn": ({ t }) => t("activity.contractWithdrawn"),
  "payments.checked": ({ t }) => t("activity.paymentsChecked"),
  "credits.given": ({ t, number }, { credits }) => t("activity.creditsGiven", { credits: number(credits) }),
  "credits.taken": ({ t, number }, { credits }) => t("activity.creditsTaken", { credits: number(credits) }),
  "refund.asked": ({ t, money }, { amountCents }) => t("activity.refundAsked", { amount: money(amountCents) }),
  "plan.cancelled": ({ t }) => t("activity.planCancelled"),
  "plan.resumed": ({ t }) => t("activity.planResumed"),
  "account.banned": ({ t }) => t("activity.banned"),
  "account.unbanned": ({ t }) => t("activity.unbanned"),
  "mail.sent_again": ({ t }) => t("activity.mailAgain"),
  "mail.readdressed": ({ t }) => t("activity.mailReaddressed"),
  "export.asked": ({ t }, { by }) => t(by === "team" ? "activity.exportMade" : "activity.exportAsked"),
  "export.downloaded": ({ t }) => t("activity.exportDownloaded"),
  "support_access.given": ({ t }) => t("access:activity.given"),
  "support_access.ended": ({ t }) => t("access:activity.ended"),
  "support_access.refused": ({ t }) => t("access:activity.refused"),
  "support_access.asked": ({ t }) => t("access:activity.asked"),
  "answer.read": ({ t }) => t("access:activity.read"),
  "deletion.asked": ({ t }) => t("activity.deletionAsked"),
  "deletion.undone": ({ t }) => t("activity.deletionUndone"),
  "role.granted": ({ t }, { role }) => t(`activity.${role}`),
  "role.taken": ({ t }) => t("activity.roleTaken"),
};

function isShown(action: string): action is ShownAction {
  return Object.hasOwn(texts, action);
}

/** The line about an event. A server that is newer than this page may send an act that it doesn't know. */
export function activityText(words: Words, { action, details }: Activity): string {
  if (!isShown(action)) return words.t("activity.other");
  // The server writes the details that belong to the action.
  const textOf: (words: Words, details: never) => string = texts[action];
  return textOf(words, details as never);
}

/** "203.0.113.0/24" → "203.0.113.x", "2001:db8:1::/48" → "2001:db8:1:x". */
export function networkText(network: string): string {
  return network.replace(/\.0\/24$/, ".x").replace(/::\/\d+$/, ":x");
}
