import { AlarmClock } from "lucide-react";
import { createContext, useContext, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { TextField } from "#client/components/field.tsx";
import { api } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { PutOffNeed } from "#contract/admin/needs.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { NeedKind } from "#domain/needs.ts";
import { putOffDays } from "#domain/needs.ts";
import { ActDialog } from "./act-dialog.tsx";
import styles from "./person.module.css";
import { ReadAt } from "./since.tsx";

/** An entry of what waits, and the list that it is on. */
export interface Need {
  kind: NeedKind;
  entry: string;
  dueBy: string | null;
}

/** An entry that somebody wants to put off. `days`: the first and the last day it can be put off until. */
export interface Delayed {
  kind: NeedKind;
  entry: string;
  days: { first: string; last: string };
}

interface PutOffView {
  /** Whether the page shows what was put off. */
  isPutOff: boolean;
  entries: readonly PutOffNeed[];
  delay: (entry: Delayed) => void;
  bringBack: (entry: Pick<PutOffNeed, "kind" | "entry">) => void;
}

export const PutOffContext = createContext<PutOffView>({ isPutOff: false, entries: [], delay: () => {}, bringBack: () => {} });

/** The button that puts an entry off, or brings one back that was put off. There is none if the entry is due and can't wait. */
export function PutOffButton({ need: { kind, entry, dueBy }, describedBy }: { need: Need; describedBy: string }) {
  const { t } = useTranslation("admin");
  const { isPutOff, delay, bringBack } = useContext(PutOffContext);
  const now = useContext(ReadAt);
  if (isPutOff)
    return (
      <Button size="small" aria-describedby={describedBy} onClick={() => bringBack({ kind, entry })}>
        {t("needs.putOff.back")}
      </Button>
    );
  const days = now && putOffDays(now, dueBy);
  if (!days) return null;
  const label = t("needs.putOff.act");
  return (
    <Button
      size="small"
      variant="quiet"
      className={styles.later ?? ""}
      aria-describedby={describedBy}
      aria-label={label}
      title={label}
      onClick={() => delay({ kind, entry, days })}
    >
      <AlarmClock size={18} aria-hidden="true" />
    </Button>
  );
}

/** Until when an entry was put off, by whom and why. */
export function PutOffNote({ need }: { need: Need }) {
  const { t } = useTranslation("admin");
  const { date } = useUtc();
  const { isPutOff, entries } = useContext(PutOffContext);
  const put = isPutOff ? entries.find(({ kind, entry }) => kind === need.kind && entry === need.entry) : undefined;
  if (!put) return null;
  const { by, reason } = put;
  const day = date(put.until);
  return (
    <p className={styles.soft}>{by === null ? t("needs.putOff.saidOnly", { day, reason }) : t("needs.putOff.said", { day, by, reason })}</p>
  );
}

const dayAfter = (day: string, days: number) =>
  addMilliseconds(new Date(day), days * dayMs)
    .toISOString()
    .slice(0, 10);

/** The days one usually means, as far as they are possible. `first` is tomorrow. */
function usualDays({ first, last }: Delayed["days"]) {
  const weekday = new Date(first).getUTCDay();
  const days = { tomorrow: first, monday: dayAfter(first, (8 - weekday) % 7), week: dayAfter(first, 6) } as const;
  const names = (["tomorrow", "monday", "week"] as const).filter((name, place, all) => {
    const isNew = all.findIndex((each) => days[each] === days[name]) === place;
    return isNew && days[name] <= last;
  });
  return names.map((name) => ({ name, day: days[name] }));
}

interface PutOffDialogProps {
  entry: Delayed;
  onClose: () => void;
  onDone: () => void;
  look: () => void;
}

export function PutOffDialog({ entry: { kind, entry, days }, onClose, onDone, look }: PutOffDialogProps) {
  const { t } = useTranslation("admin");
  const { date } = useUtc();
  const [until, setUntil] = useState(days.first);
  const isPossible = until >= days.first && until <= days.last;
  return (
    <ActDialog
      title={t("needs.putOff.act")}
      action={t("needs.putOff.act")}
      ready={isPossible}
      onClose={onClose}
      onDone={onDone}
      look={look}
      act={(reason) => api("POST /api/admin/needs/put-off", { body: { kind, entry, until, reason } })}
    >
      <p>{t("needs.putOff.text")}</p>
      <div className={styles.acts}>
        {usualDays(days).map(({ name, day }) => (
          <Button key={name} size="small" aria-pressed={until === day} onClick={() => setUntil(day)}>
            {t(`needs.putOff.${name}`)}
          </Button>
        ))}
      </div>
      <TextField
        type="date"
        label={t("needs.putOff.until")}
        error={isPossible ? undefined : t("needs.putOff.wrong", { first: date(days.first), last: date(days.last) })}
        required
        min={days.first}
        max={days.last}
        value={until}
        onChange={(event) => setUntil(event.target.value)}
      />
    </ActDialog>
  );
}
