/**
 * The mails a person may do without. They choose by kind; each kind lists its mails. Every other mail is about security or payments
 * and is always sent. A new kind is a line here and its texts on the account page (`account:notifications.kinds`).
 */
export const optionalMails = {
  contact: ["contact-received"],
  trial: ["trial-ending", "trial-ended"],
  credits: ["credits-low"],
  models: ["model-ending"],
} as const;

export type OptionalMailKind = keyof typeof optionalMails;
export const optionalMailKinds = Object.keys(optionalMails) as OptionalMailKind[];

export function isOptionalMailKind(name: string): name is OptionalMailKind {
  return Object.hasOwn(optionalMails, name);
}

/** Undefined if the mail is always sent. */
export function optionalKindOf(template: string): OptionalMailKind | undefined {
  return optionalMailKinds.find((kind) => (optionalMails[kind] as readonly string[]).includes(template));
}
