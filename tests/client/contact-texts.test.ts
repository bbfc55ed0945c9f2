import { describe, expect, it } from "vitest";
import { mergeGiven, readGiven, withoutGiven } from "#client/features/contact/given-fields.ts";
import contact from "#client/i18n/locales/en/contact.json" with { type: "json" };
import feedback from "#client/i18n/locales/en/feedback.json" with { type: "json" };
import type { ContactRule } from "#domain/contact.ts";
import { contactRuleMessages } from "#domain/contact.ts";
import { limits } from "#domain/rules.ts";

const nobody = { name: "", email: "", category: "", subject: "", message: "" };

describe("the specification's sentences on the form and in the dialog", () => {
  it("match the rules, with their limits (specification §5)", () => {
    const maximum: Partial<Record<ContactRule, number>> = {
      nameLong: limits.nameMax,
      emailLong: limits.emailMax,
      subjectLong: limits.subjectMax,
      messageLong: limits.messageMax,
    };
    const texts: Record<string, string> = contact.rules;
    const own = (rule: ContactRule) => (texts[rule] ?? texts[`${rule}_other`] ?? "").replaceAll("{{count}}", String(maximum[rule]));
    const { categoryUnknown: _unquoted, ...quoted } = contactRuleMessages;
    // "Less than 100" reads as if 100 were refused, so the form adds what is accepted.
    const accepted = (rule: ContactRule) => (maximum[rule] === undefined ? "" : `. Use ${maximum[rule]} or fewer`);
    for (const rule of Object.keys(quoted) as ContactRule[]) expect(own(rule)).toBe(`${contactRuleMessages[rule]}${accepted(rule)}`);
  });

  it("match those for feedback (specification §2, §5, §8)", () => {
    expect(feedback.card).toMatchObject({ give: "Give Feedback", dismiss: "Don't show again" });
    expect([feedback.name, feedback.email, feedback.message, feedback.send]).toEqual(["Name", "Email", "Feedback", "Send Feedback"]);
    expect(feedback.invalid.title).toBe("Validation Error");
    expect(feedback.failed).toEqual({ title: "Error", text: "Failed to send your feedback. Please try again later." });
    expect(feedback.sent).toEqual({ title: "Feedback Sent!", text: "Thank you for your feedback. We appreciate your input!" });
  });
});

describe("contact form values in a link", () => {
  it("are read from the address; an unknown category is ignored", () => {
    expect(readGiven("?category=bug&subject=S&message=M&other=1")).toEqual({ category: "bug", subject: "S", message: "M" });
    expect(readGiven("?category=constructor&message=")).toEqual({});
  });

  it("are removed from the address, which keeps its other parameters", () => {
    expect(withoutGiven("/contact", "?category=bug&lang=fr&message=M")).toBe("/contact?lang=fr");
    expect(withoutGiven("/contact", "?message=M")).toBe("/contact");
  });

  it("never replace what was typed", () => {
    expect(mergeGiven(nobody, { subject: "S", message: "M" })).toEqual({ subject: "S", message: "M" });
    const typed = { ...nobody, subject: "Mine", message: "Typed" };
    expect(mergeGiven(typed, { category: "bug", subject: "S", message: "M" })).toEqual({ category: "bug", message: "Typed\n\nM" });
    expect(mergeGiven({ ...typed, message: "Typed\n\nM" }, { message: "M" })).toEqual({});
  });
});
