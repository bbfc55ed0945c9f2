import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { OwnDispute } from "#contract/admin/needs.ts";
import { Copied } from "./copied.tsx";
import { Dashboard } from "./dashboard.tsx";
import styles from "./person.module.css";
import { Block } from "./person-block.tsx";
import { Since } from "./since.tsx";

/** The person's payments that the bank is deciding about; nothing if there are none. */
export function Disputes({ disputes }: { disputes: readonly OwnDispute[] }) {
  const { t } = useTranslation("admin");
  const { money } = useFormat();
  const { dateTime } = useUtc();
  if (disputes.length === 0) return null;
  return (
    <Block title={t("needs.disputes")}>
      <ul className={styles.rows}>
        {disputes.map(({ id, paidCents, since, dueAt, dashboardUrl }) => (
          <li key={id} className={styles.row}>
            <div>
              <p>
                {money(paidCents)} {dueAt !== null && <Badge tone="warning">{t("needs.evidence", { time: dateTime(dueAt) })}</Badge>}
              </p>
              <p className={styles.soft}>
                <Since at={since} /> <Copied what={t("people.id")} value={id} />
              </p>
            </div>
            <Dashboard url={dashboardUrl} />
          </li>
        ))}
      </ul>
    </Block>
  );
}
