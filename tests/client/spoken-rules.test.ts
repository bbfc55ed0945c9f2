import { describe, expect, it } from "vitest";
import auth from "#client/i18n/locales/en/auth.json" with { type: "json" };
import chat from "#client/i18n/locales/en/chat.json" with { type: "json" };
import common from "#client/i18n/locales/en/common.json" with { type: "json" };
import { limits, ruleMessages } from "#domain/rules.ts";
import { checkReasons } from "#domain/subscription.ts";

/** The text with its number filled in. */
const read = (text: string, figure: number) => text.replace(/\{\{(count|formatted)\}\}/g, figure.toLocaleString("en"));

/** "Less than 128" reads as if 128 were refused, so the screen adds what is accepted. */
const withLimit = (sentence: string, figure: number) => `${sentence}. Use ${figure.toLocaleString("en")} or fewer`;

describe("the specification's English sentences, on the screen and in the server's responses", () => {
  it("match those of a subscription check", () => {
    const { other: _unknown, ...known } = common.reason;
    expect(known).toEqual(checkReasons);
  });

  it("match the rules, with their limits", () => {
    expect(read(auth.rules.emailLong_other, limits.emailMax)).toBe(withLimit(ruleMessages.emailLong, limits.emailMax));
    expect(read(auth.rules.passwordShort_other, limits.passwordMin)).toBe("Password must be at least 8 characters");
    expect(read(auth.rules.passwordShort_other, limits.passwordMin)).toBe(ruleMessages.passwordShort);
    expect(read(auth.rules.passwordLong_other, limits.passwordMax)).toBe(withLimit(ruleMessages.passwordLong, limits.passwordMax));
    expect(ruleMessages.promptLong).toBe("Prompt must be less than 10,000 characters");
    expect(read(chat.composer.tooLong_other, limits.promptMax)).toBe(withLimit(ruleMessages.promptLong, limits.promptMax));
  });
});
