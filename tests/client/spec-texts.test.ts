/** The English texts that the specification quotes or lists. Rules: spoken-rules.test.ts; forms: contact-texts.test.ts. */
import { describe, expect, it } from "vitest";
import { pieceNames, piecePath } from "#client/content/names.ts";
import { toRefusal } from "#client/features/chat/thread.ts";
import { barLinks, footerLinks } from "#client/features/frame/links.ts";
import { claims } from "#client/features/marketing/claims.ts";
import { exampleDay, workingDays } from "#client/features/marketing/worked-example.tsx";
import { formatMonth } from "#client/features/reading/dates.ts";
import account from "#client/i18n/locales/en/account.json" with { type: "json" };
import auth from "#client/i18n/locales/en/auth.json" with { type: "json" };
import billing from "#client/i18n/locales/en/billing.json" with { type: "json" };
import chat from "#client/i18n/locales/en/chat.json" with { type: "json" };
import common from "#client/i18n/locales/en/common.json" with { type: "json" };
import consent from "#client/i18n/locales/en/consent.json" with { type: "json" };
import errors from "#client/i18n/locales/en/errors.json" with { type: "json" };
import feedback from "#client/i18n/locales/en/feedback.json" with { type: "json" };
import home from "#client/i18n/locales/en/home.json" with { type: "json" };
import notFound from "#client/i18n/locales/en/not-found.json" with { type: "json" };
import plans from "#client/i18n/locales/en/plans.json" with { type: "json" };
import pricing from "#client/i18n/locales/en/pricing.json" with { type: "json" };
import refusalTexts from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import support from "#client/i18n/locales/en/support.json" with { type: "json" };
import trial from "#client/i18n/locales/en/trial.json" with { type: "json" };
import uploadTexts from "#client/i18n/locales/en/uploads.json" with { type: "json" };
import { ApiProblem } from "#client/lib/api.ts";
import { paths } from "#client/paths.ts";
import { catalogueEditions } from "#domain/editions.ts";
import { refusals } from "#domain/errors.ts";
import { languages } from "#domain/languages.ts";
import { findModel, modelsAt, startOf } from "#domain/models.ts";
import { annualSavingPercent, moneyBackDays, planList, plans as plansByKey, trialCredits, trialDays } from "#domain/plans.ts";
import { ruleMessages, uploadLimits } from "#domain/rules.ts";
import { tierDisplayName } from "#domain/subscription.ts";
import { read } from "#tests/support/sources.ts";

const busy = "Sorry, I'm having trouble responding right now. Please try again in a moment.";

describe("the specification's words", () => {
  it("are in the frame (specification §2)", () => {
    expect(trial.action).toBe("Start Free Trial");
    expect(trial.text_other).toMatch(/^\{\{formatted\}\} free credits, no credit card, basic models/);
    expect(home.hero.action).toBe("Get Started");
    expect([feedback.card.give, feedback.card.dismiss, common.cancel]).toEqual(["Give Feedback", "Don't show again", "Cancel"]);
    const lowerCase = (texts: string[]) => texts.map((text) => text.toLowerCase());
    expect(lowerCase([consent.manage, consent.decline, consent.acceptAll])).toEqual(["manage preferences", "decline", "accept all"]);
    expect(lowerCase([consent.back, consent.declineAll, consent.save])).toEqual(["back", "decline all", "save preferences"]);
  });

  it("are on the plan cards, in the summary and on the profile (specification §2, §4, §9)", () => {
    expect([plans.plan.mostPopular, plans.plan.current]).toEqual(["Most Popular", "Current Plan"]);
    expect(home.summary.level).toEqual({ excellent: "excellent", good: "good", low: "low", verylow: "very low" });
    const { verified, userId, memberSince, lastSignIn } = account;
    expect([verified, userId, memberSince, lastSignIn]).toEqual(["Verified", "User ID", "Member since", "Last sign in"]);
    const { currentPlan, active, nextBilling, availableCredits, monthlyCredits, timeLeft, planValue } = billing.subscription;
    expect([currentPlan, active, nextBilling, availableCredits, monthlyCredits, timeLeft, planValue]).toEqual([
      "Current plan",
      "Active",
      "Next billing date",
      "Available credits",
      "Monthly credits",
      "Time left",
      "Price",
    ]);
  });

  it("name the plans as the server does (specification §4)", () => {
    for (const { key, name } of planList) expect(common.plan.name.replace("{{plan}}", name)).toBe(tierDisplayName(key));
    expect(common.plan.none).toBe(tierDisplayName("none"));
  });

  it("are in the error messages (specification §8)", () => {
    expect(billing.checkout).toEqual({
      authenticationRequired: "Authentication Required",
      signInFirst: "Please sign in to subscribe to a plan.",
      failed: "Subscription Error",
      failedText: "Failed to create subscription: {{message}}",
      noUrl: "No checkout URL received",
      noUrlAdvice: "The payment page didn't open. Try again.",
    });
    expect(plans.discount.failed).toBe("Failed to check discount eligibility");
    expect([chat.refusal.busy, common.support.failure]).toEqual([busy, busy]);
    expect([billing.subscription.loadFailed, billing.subscription.portalFailed, billing.subscription.paymentFailed]).toEqual([
      "Failed to load subscription",
      "Failed to open portal",
      "Payment failed",
    ]);
    expect([notFound.title, notFound.action]).toEqual(["Page not found", "Return home"]);
  });

  it("name what a discount campaign makes of a price: before, now, what is saved and the percentage (specification §3)", () => {
    for (const { code } of languages) {
      const { plan, discount } = JSON.parse(read(`client/i18n/locales/${code}/plans.json`)) as typeof plans;
      expect([plan.was, plan.now], code).toEqual([expect.stringContaining("{{price}}"), expect.stringContaining("{{price}}")]);
      expect(discount.offer, code).toContain("{{percent}}");
      for (const text of [plan.firstPeriod.month, plan.firstPeriod.year])
        for (const named of ["{{savings}}", "{{percent}}", "{{price}}"]) expect(text, code).toContain(named);
    }
  });

  it("match the rules for an address, a password and a model (specification §5)", () => {
    expect(auth.rules.emailInvalid).toBe(ruleMessages.emailInvalid);
    expect(auth.rules.emailInvalid).toBe("Invalid email address");
    expect(ruleMessages.emailLong).toBe("Email must be less than 255 characters");
    expect(ruleMessages.passwordShort).toBe("Password must be at least 8 characters");
    expect(ruleMessages.passwordLong).toBe("Password must be less than 128 characters");
    expect(auth.rules.passwordMix).toBe(ruleMessages.passwordMix);
    expect(auth.rules.passwordMix).toBe("Password must contain at least one letter and one number");
    expect(chat.model.chooseFirst).toBe(ruleMessages.modelMissing);
    expect(chat.model.chooseFirst).toBe("Model must be selected");
  });

  it("name the largest allowed files with the rule's figures (specification §5)", () => {
    expect(uploadLimits).toEqual({ fileMegabytes: 10, audioMegabytes: 25, audioFormats: ["MP3", "WAV", "M4A"] });
    expect(support.files.answer).toContain("Images, PDFs and text files up to {{file}}, audio up to {{audio}} ({{formats}})");
  });
});

describe("refusals (specification §8)", () => {
  it("each have a text, and there are no other texts", () => {
    const { wait: _, ...texts } = { ...errors, ...refusalTexts, ...uploadTexts };
    expect(Object.keys(texts).toSorted()).toEqual([...Object.keys(refusals), "network", "unexpected"].toSorted());
  });

  it("for lack of credits show the credits needed and available, and suggest buying or upgrading", () => {
    for (const { code } of languages) {
      const texts = JSON.parse(read(`client/i18n/locales/${code}/refusals.json`)) as typeof refusalTexts;
      expect(texts.insufficient_credits, code).toMatch(/\{\{needed\}\}.*\{\{available\}\}/);
    }
    expect(refusalTexts.insufficient_credits).toMatch(/Buy credits or upgrade\.$/);
    const problem = new ApiProblem(402, { code: "insufficient_credits", needed: 5, available: 3 });
    expect(toRefusal(problem)).toMatchObject({ code: "insufficient_credits", needed: 5, available: 3 });
  });

  it("of the whole service say nothing of money: some calls change something at the payment provider first", () => {
    for (const { code } of languages) {
      const [problems, answers] = ["errors", "chat"].map((name) => JSON.parse(read(`client/i18n/locales/${code}/${name}.json`))) as [
        typeof errors,
        typeof chat,
      ];
      expect(problems.service_unavailable, code).not.toContain(answers.receipt.summaryFree);
    }
  });

  it("that are unexpected have the same text in the chat, whatever failed", () => {
    for (const error of [new ApiProblem(500, { code: "internal_error" }), new ApiProblem(502, {}), new Error("a bug")])
      expect(toRefusal(error).code).toBe("unexpected");
  });
});

describe("failures of an account (specification §8)", () => {
  /** By the specification's words, the text that says it. "Account exists" is said in a mail alone (README.md). */
  const saidBy: [string, string, string][] = [
    ["sign-up", "errors", "too_many_attempts"],
    ["sign-up, by the confirmation link", "errors", "link_invalid"],
    ["sign-in", "errors", "sign_in_busy"],
    ["Google sign-in", "refusals", "google_refused"],
    ["Google sign-in, not allowed", "refusals", "google_denied"],
    ["unexpected error", "errors", "unexpected"],
    ["sign-out failure", "account", "signOutFailed"],
    ["network error", "errors", "network"],
    ["rate limit exceeded", "errors", "rate_limited"],
    ["invalid credentials", "errors", "invalid_credentials"],
    ["account exists", "mails", "account-exists.subject"],
  ];
  const mailTexts = (language: string) => `server/features/notifications/locales/${language}.json`;
  const textOf = (language: string, file: string, key: string): unknown => {
    const texts = JSON.parse(read(file === "mails" ? mailTexts(language) : `client/i18n/locales/${language}/${file}.json`));
    return key.split(".").reduce<unknown>((found, part) => (found as Record<string, unknown>)[part], texts);
  };

  it.each(saidBy)("%s: is said in each language, in words of its own", (_, file, key) => {
    const texts = languages.map(({ code }) => textOf(code, file, key));
    for (const text of texts) expect(text).toEqual(expect.stringMatching(/\S/));
    expect(new Set(texts).size).toBe(languages.length);
  });

  it("don't say which of address and password is wrong", () => {
    expect(errors.invalid_credentials).toBe("Email or password is wrong. Check both and try again.");
  });
});

describe("the example on the about page", () => {
  it("is a working day that fits into a month of the smallest plan", () => {
    const spentADay = exampleDay().reduce((sum, { credits }) => sum + credits, 0);
    expect(spentADay).toBeGreaterThan(0);
    expect(workingDays * spentADay).toBeLessThanOrEqual(plansByKey.starter.monthlyCredits);
  });
});

describe("what the specification lists", () => {
  it("is the bar's links and the footer's, in its order (specification §2)", () => {
    // The bar also has the prices, which the specification has only in the footer.
    expect(barLinks.map(({ path }) => path).filter((path) => path !== "/pricing")).toEqual([
      "/",
      "/ai-models",
      "/about",
      "/contact",
      "/marketing",
    ]);
    expect(footerLinks.map(({ path }) => path)).toEqual(["/ai-models", "/pricing", "/blog", "/about", "/terms", "/privacy", "/contact"]);
  });

  it("is eleven languages (specification §1)", () => {
    expect(languages.map(({ code }) => code)).toEqual(["en", "es", "fr", "de", "zh", "ja", "pt", "pl", "ro", "it", "ru"]);
  });

  it("is the routes (specification §2)", () => {
    const own = ["/", "/auth", "/profile", "/ai-models", "/about", "/contact", "/pricing", "/blog", "/admin"];
    expect(Object.values(paths)).toEqual(expect.arrayContaining(own));
    const guides = ["/content-creation", "/image-generation", "/getting-started", "/small-business-ai", "/marketing"];
    const articles = [
      "/blog/gpt-5-vs-gpt-4-small-business",
      "/blog/local-business-ai-tools-guide",
      "/blog/ai-customer-service-automation",
      "/blog/ai-social-media-marketing-restaurants",
      "/blog/small-business-ai-roi-calculator",
      // The specification's sixth address can't be read; this one is ours.
      "/blog/ai-content-workflow-small-business",
    ];
    expect(pieceNames.map(piecePath)).toEqual([...guides, ...articles, "/terms", "/privacy"]);
  });

  it("is the plans, what answers cost and the trial (specification §9)", () => {
    expect(planList.map(({ key, monthlyPriceCents, monthlyCredits }) => [key, monthlyPriceCents, monthlyCredits])).toEqual([
      ["starter", 1_999, 300],
      ["basic", 3_999, 600],
      ["professional", 4_999, 750],
      ["enterprise", 9_999, 1_250],
    ]);
    const costOf = (id: string) => findModel(id)?.credits;
    expect(["gpt-5-mini", "gpt-5", "dall-e-3", "whisper-1"].map(costOf)).toEqual([1, 5, 10, 2]);
    for (const edition of catalogueEditions) {
      const models = modelsAt(startOf(edition));
      expect(models.filter(({ category }) => category === "video").map(({ credits }) => credits)).toEqual([50]);
      expect(models.filter(({ highlighted }) => highlighted)).toHaveLength(10);
    }
    expect([trialDays, trialCredits]).toEqual([7, 50]);
    expect(pricing.faq.payment.answer).toContain("Enterprise customers can pay by bank transfer on an invoice.");
  });

  it("is the marketing claims (specification §1)", () => {
    expect(claims).toEqual({
      models: 15,
      savingPercent: 75,
      developers: 7_000,
      businesses: 300,
      countries: 45,
      fasterPercent: 40,
      uptimePercent: 99.9,
    });
    expect([moneyBackDays, annualSavingPercent]).toEqual([14, 20]);
  });

  it("is when terms and privacy were last updated (specification §2)", () => {
    const monthOf = (name: string) => formatMonth(/^updated: (\S+)$/m.exec(read(`client/content/en/${name}.md`))?.[1] ?? "", "en");
    expect([monthOf("terms"), monthOf("privacy")]).toEqual(["January 2024", "January 2025"]);
  });
});
