/** The panel says in words what the code calls by names: each name has one. That all languages have the same ones is tests/tidy.test.ts's. */
import { expect, test } from "vitest";
import words from "#client/i18n/locales/en/words.json" with { type: "json" };
import { auditActions } from "#domain/audit.ts";
import { mailTemplates } from "#server/features/notifications/templates.ts";
import { jobs } from "#server/queue/jobs.ts";

test("every act of the audit log, every mail and every job has a word", () => {
  const acts = Object.entries(words.acts).flatMap(([thing, dones]) => Object.keys(dones).map((done) => `${thing}.${done}`));
  expect(acts.sort()).toEqual(auditActions.toSorted());
  expect(Object.keys(words.mails).sort()).toEqual(mailTemplates.toSorted());
  expect(Object.keys(words.jobs).sort()).toEqual(Object.keys(jobs).sort());
});
