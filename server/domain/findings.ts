/** What the checks of payments, books and the catalogue can find (server/features/findings/). */

/** For an operator: what is wrong, and what to do if the check could not repair it. */
export const findingKinds = {
  lost_event: {
    what: "Stripe has an event that no webhook brought",
    toDo: "The next hourly run tries again. If it stays, look at the log for the reason, and at the webhook endpoint with npm run stripe:check.",
  },
  stuck_event: {
    what: "an event of Stripe's was received and not processed",
    toDo: "The next hourly run tries again. If it stays, look at npm run dead-letters for the error.",
  },
  unrecorded_payment: {
    what: "an invoice is paid at Stripe and not in the books",
    toDo: "Look at the invoice at Stripe. If it sells nothing of ours, close this finding; otherwise refund it, or run the full check again.",
  },
  missing_grant: {
    what: "a payment is in the books and its credits are not",
    toDo: "The month is over, or the payment was refunded in part, so giving the credits now is a decision: give an adjustment or refund the payment.",
  },
  doubled_grant: {
    what: "the credits of one payment were granted twice, and some of the second grant were spent or are held",
    toDo: "Taking them back would leave the person in debt: decide whether they keep the credits, and close this finding, or claw them back.",
  },
  wrong_trial: {
    what: "a trial lacks its credits, or there are trial credits without a trial",
    toDo: "Both are written together, so somebody changed one of them by other means than the product. Find out who; give an adjustment if the person lacks credits, and close this finding.",
  },
  stale_hold: {
    what: "credits are held past their deadline",
    toDo: "The hold could not be released. Look at the log for the reason; npm run reconcile -- --full tries again.",
  },
  wrong_subscription: {
    what: "our copy of a subscription differs from Stripe's",
    toDo: "Look at the subscription at Stripe; npm run reconcile -- --full reads it again.",
  },
  unbooked_return: {
    what: "money went back or is disputed at Stripe, and our books did not have it",
    toDo: "Look at the charge at Stripe; npm run reconcile -- --full reads it again.",
  },
  unpaid_return: {
    what: "a person asked money back over an hour ago, and it has not gone back",
    toDo: "Look at npm run dead-letters for Stripe's reason. If the payment can't be refunded, pay it back another way and close this finding.",
  },
  unreturned_transfer: {
    what: "a person asked back what a bank transfer paid over ten days ago, and nobody recorded that the money went back",
    toDo: "Transfer it before the fourteen days are over, then record it: both under What needs you in the panel.",
  },
  surplus_transfer: {
    what: "a bank transfer was recorded, and by then its invoice was void or paid by card",
    toDo: "Transfer the money back, then record it: both under What needs you in the panel. The person may want the plan all the same: offer it again.",
  },
  wrong_invoice: {
    what: "our copy of an invoice differs from Stripe's",
    toDo: "Look at the invoice at Stripe; npm run reconcile -- --full reads it again.",
  },
  books_disagree: {
    what: "a balance differs from the sum of its entries",
    toDo: "Somebody changed a balance without the ledger's functions. Freeze the wallet, find out who, and correct the balance from its entries.",
  },
  model_gone: {
    what: "a provider's list of models does not have one that we offer",
    toDo: "Ask it once. If the provider has ended it, switch it off in MODELS_FILE until a release has its end; if only its id changed, name the new one there.",
  },
  model_ending: {
    what: "a provider ends a model earlier than our catalogue says",
    toDo: "Enter the day and a successor in server/domain/models.ts, and release before that day.",
  },
  models_unknown: {
    what: "a provider's list has models that our catalogue does not know",
    toDo: "Look whether one of them is worth offering, and close this finding. It is open again when the list has others.",
  },
  models_few: {
    what: "too few models are offered, or none of a kind, or soon will be",
    toDo: "Set the keys of more providers, switch models on, or release with a catalogue that has others.",
  },
  model_facts_old: {
    what: "what we know of models and their prices was last looked up long ago",
    toDo: "Look ids, ends and prices up again, and release with a new catalogueAsOf in server/domain/models.ts.",
  },
  model_key_refused: {
    what: "a provider does not accept our key, so its models can't be asked",
    toDo: "Look at the account at the provider, and set its key anew in the environment.",
  },
} as const satisfies Record<string, { what: string; toDo: string }>;

export type FindingKind = keyof typeof findingKinds;

/** Which check repaired a finding. */
export type Checker = "hourly" | "full" | "doctor";

/** `itself`: a later check did not find it any more. `person`: somebody closed it, and it stays closed while the checks find the same. */
export type ResolvedBy = Checker | "itself" | "person";

export type FindingDetails = Readonly<Record<string, string | number | null>>;

export interface Finding {
  kind: FindingKind;
  subject: string;
  /** The billing account; null if nobody knows whose it is. */
  payerId: string | null;
  details: FindingDetails;
  /** False: it is left for a later run or for a person. */
  isRepaired: boolean;
}
