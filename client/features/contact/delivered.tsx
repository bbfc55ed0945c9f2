import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import styles from "./contact.module.css";
import type { ContactStatus } from "./use-contact-form.ts";

interface DeliveredProps {
  status: Extract<ContactStatus, { step: "sent" | "queued" }>;
  onAgain: () => void;
}

/** Says whether the message was sent or is queued, and offers to write another. */
export function Delivered({ status, onAgain }: DeliveredProps) {
  const { t } = useTranslation("contact");
  const heading = useRef<HTMLHeadingElement>(null);
  // The focused button is gone, so the heading that replaced the form gets the focus and is read out.
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className={styles.delivered} aria-live="polite">
      <Tiles complete={status.step === "sent"} />
      <h2 ref={heading} tabIndex={-1}>
        {t(`${status.step}.title`)}
      </h2>
      <p>{t(`${status.step}.text`, { email: status.email })}</p>
      {status.step === "queued" && status.kept !== "kept" && <Alert tone="warning">{t("queued.unkept")}</Alert>}
      <Button onClick={onAgain}>{t("again")}</Button>
    </section>
  );
}

/** A letter drawn in tiles. Its seal is filled once the message has arrived. */
function Tiles({ complete }: { complete: boolean }) {
  return (
    <svg className={styles.tiles} viewBox="0 0 68 44" aria-hidden="true">
      <path className={styles.sheet} d="M2 2h64v40H2zM2 2l32 22L66 2" />
      <rect className={complete ? styles.seal : styles.gap} x="29" y="19" width="10" height="10" />
    </svg>
  );
}
