import type { ConversationSummary } from "#contract/conversations.ts";

export interface ConversationGroup {
  key: string;
  title: string;
  conversations: readonly ConversationSummary[];
}

const dayMs = 24 * 3_600_000;
const week = 7;

/** Calendar days between the two in the reader's time zone, whether a day has 23, 24 or 25 hours. */
function daysBetween(earlier: Date, later: Date): number {
  const midnight = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((midnight(later) - midnight(earlier)) / dayMs);
}

function capitalised(text: string, language: string): string {
  const [first = "", ...rest] = text;
  return first.toLocaleUpperCase(language) + rest.join("");
}

/** Pinned ones, today, yesterday, the week before, then by month, with headings in the reader's language. */
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
  // Conversations saved on the device are sorted by time only, and older versions did not save whether they are pinned.
  const inOrder = [...conversations.filter(({ pinned }) => pinned), ...conversations.filter(({ pinned }) => !pinned)];
  for (const conversation of inOrder) {
    const { key, title } = groupOf(conversation);
    const group = groups.get(key) ?? { title: title(), conversations: [] };
    groups.set(key, group);
    group.conversations.push(conversation);
  }
  return [...groups].map(([key, group]) => ({ key, ...group }));
}
