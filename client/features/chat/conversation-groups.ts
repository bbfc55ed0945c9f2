import type { ConversationSummary } from "#contract/generations.ts";

export interface ConversationGroup {
  key: string;
  title: string;
  conversations: readonly ConversationSummary[];
}

const dayMs = 24 * 3_600_000;
const week = 7;

/** Whole days between the two, by the calendar of the reader's time zone; a day of 23 or 25 hours is one too. */
function daysBetween(earlier: Date, later: Date): number {
  const midnight = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((midnight(later) - midnight(earlier)) / dayMs);
}

function capitalised(text: string, language: string): string {
  const [first = "", ...rest] = text;
  return first.toLocaleUpperCase(language) + rest.join("");
}

/** Today, yesterday, the week before, then by month, as the reader's language says it; what is pinned first. */
export function groupByDay(
  conversations: readonly ConversationSummary[],
  now: Date,
  language: string,
  names: { pinned: string; lastDays: (days: number) => string },
): ConversationGroup[] {
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const groupOf = ({ pinned, updatedAt }: ConversationSummary): { key: string; title: () => string } => {
    if (pinned) return { key: "pinned", title: () => names.pinned };
    const updated = new Date(updatedAt);
    const days = Math.max(0, daysBetween(updated, now));
    if (days <= 1) return { key: `day-${days}`, title: () => capitalised(relative.format(-days, "day"), language) };
    if (days <= week) return { key: "week", title: () => names.lastDays(week) };
    const year = updated.getFullYear() === now.getFullYear() ? {} : ({ year: "numeric" } as const);
    const format = () => new Intl.DateTimeFormat(language, { month: "long", ...year }).format(updated);
    return { key: `${updated.getFullYear()}-${updated.getMonth()}`, title: () => capitalised(format(), language) };
  };
  const groups = new Map<string, { title: string; conversations: ConversationSummary[] }>();
  // Kept on the device they come by time alone, and those of an older version do not say whether they are pinned.
  const inOrder = [...conversations.filter(({ pinned }) => pinned), ...conversations.filter(({ pinned }) => !pinned)];
  for (const conversation of inOrder) {
    const { key, title } = groupOf(conversation);
    const group = groups.get(key) ?? { title: title(), conversations: [] };
    groups.set(key, group);
    group.conversations.push(conversation);
  }
  return [...groups].map(([key, group]) => ({ key, ...group }));
}
