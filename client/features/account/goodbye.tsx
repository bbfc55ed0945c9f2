import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { LinkButton } from "#client/components/button.tsx";
import { Page } from "#client/components/page.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import styles from "./account.module.css";

/** What somebody sees who has just deleted their account. */
export function Goodbye({ deleteAt }: { deleteAt: string }) {
  const { t } = useTranslation("account");
  const { date } = useFormat();
  const heading = useRef<HTMLHeadingElement>(null);
  // The button that was pressed is gone.
  useEffect(() => heading.current?.focus(), []);
  return (
    <Page title={t("deletion.done.title")} width="narrow">
      <div className={styles.panel}>
        <h1 ref={heading} tabIndex={-1}>
          {t("deletion.done.title")}
        </h1>
        <p>{t("deletion.done.text", { date: date(deleteAt) })}</p>
        <p className={styles.soft}>{t("deletion.done.mail")}</p>
        <div className={styles.actions}>
          <LinkButton href={paths.home} variant="primary">
            {t("deletion.done.home")}
          </LinkButton>
          <LinkButton href={paths.auth}>{t("deletion.done.signIn")}</LinkButton>
        </div>
      </div>
    </Page>
  );
}
