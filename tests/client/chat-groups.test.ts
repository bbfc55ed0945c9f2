/** The list of conversations by day, in the reader's language and time zone. */
import { describe, expect, it } from "vitest";
import { groupByDay } from "#client/features/chat/conversation-groups.ts";

const names = { pinned: "Pinned", lastDays: (days: number) => `Previous ${days} days` };
const now = new Date(2026, 2, 30, 0, 30);

function grouped(dates: readonly Date[], language: string, pinned = 0) {
  const conversations = dates.map((date, index) => ({
    id: String(index),
    title: `T${index}`,
    pinned: index < pinned,
    createdAt: date.toISOString(),
    updatedAt: date.toISOString(),
  }));
  return groupByDay(conversations, now, language, names).map(({ title, conversations: members }) => [
    title,
    members.map(({ id }) => id).join(),
  ]);
}

describe("conversations by day", () => {
  it("are grouped as today, yesterday, the last week, then by month, with the year if it is not the current one", () => {
    const dates = [
      ...[new Date(2026, 2, 30, 0, 29), new Date(2026, 2, 29, 23, 59), new Date(2026, 2, 29, 0, 1)],
      ...[new Date(2026, 2, 28, 23, 59), new Date(2026, 2, 23, 1), new Date(2026, 2, 22, 23), new Date(2025, 11, 31)],
    ];
    expect(grouped(dates, "en")).toEqual([
      ["Today", "0"],
      ["Yesterday", "1,2"],
      ["Previous 7 days", "3,4"],
      ["March", "5"],
      ["December 2025", "6"],
    ]);
    expect(grouped(dates, "de").map(([title]) => title)).toEqual(["Heute", "Gestern", "Previous 7 days", "März", "Dezember 2025"]);
    expect(grouped(dates, "ja").map(([title]) => title)).toEqual(["今日", "昨日", "Previous 7 days", "3月", "2025年12月"]);
  });

  it("begin with the pinned ones; a time ahead of this device's clock counts as today", () => {
    expect(grouped([new Date(2020, 0, 1), new Date(2026, 2, 31)], "en", 1)).toEqual([
      ["Pinned", "0"],
      ["Today", "1"],
    ]);
  });
});
