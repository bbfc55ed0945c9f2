import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Select } from "#client/components/field.tsx";
import { api } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { PersonPage } from "#contract/admin/people.ts";
import { ActDialog } from "./act-dialog.tsx";
import styles from "./person.module.css";

interface GiveBackDialogProps {
  page: PersonPage;
  onClose: () => void;
  onDone: () => void;
}

const nothing = "";
/** The day in UTC on which a way was added. */
const dayOf = (addedAt: string) => addedAt.slice(0, 10);

/** Gives an account that somebody took over back to its owner. The admin says from which day on what was added is not the owner's. */
export function GiveBackDialog({ page: { person, takenOver }, onClose, onDone }: GiveBackDialogProps) {
  const { t } = useTranslation("admin");
  const { date, dateTime } = useUtc();
  const { ways, earlierEmail } = takenOver;
  const days = [...new Set(ways.map(({ addedAt }) => dayOf(addedAt)))].reverse();
  const [since, setSince] = useState(days[0] ?? nothing);
  const goes = (addedAt: string) => since !== nothing && dayOf(addedAt) >= since;
  const options = [
    ...days.map((day) => ({ value: day, label: t("person.giveBack.from", { date: date(`${day}T00:00:00Z`) }) })),
    { value: nothing, label: t("person.giveBack.none") },
  ];
  return (
    <ActDialog
      title={t("person.giveBack.title")}
      action={t("person.giveBack.title")}
      danger
      onClose={onClose}
      onDone={onDone}
      act={(reason) =>
        api("POST /api/admin/people/:userId/give-back", {
          params: { userId: person.id },
          body: { reason, since: since === nothing ? null : since },
        })
      }
    >
      <p>
        {earlierEmail === null
          ? t("person.giveBack.text", { email: person.email })
          : t("person.giveBack.earlier", { email: person.email, earlier: earlierEmail })}
      </p>
      {ways.length > 0 && (
        <>
          <Select label={t("person.giveBack.since")} value={since} onChange={(event) => setSince(event.target.value)} options={options} />
          <ul className={styles.rows}>
            {ways.map(({ kind, addedAt }) => (
              <li key={`${kind} ${addedAt}`} className={styles.row}>
                <span>{t(`person.giveBack.ways.${kind}`, { time: dateTime(addedAt) })}</span>
                <span className={styles.soft}>{t(goes(addedAt) ? "person.giveBack.goes" : "person.giveBack.stays")}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </ActDialog>
  );
}
