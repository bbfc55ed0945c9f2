import type { FormEvent, ReactNode } from "react";
import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import type { FormFields } from "#client/offline/form-drafts.ts";
import type { Kept } from "#client/offline/store.ts";
import styles from "./message-form.module.css";

/** A name that makes bots fill the field in. The API silently drops messages in which it is filled. */
const trapName = "website";

interface MessageFormProps {
  id?: string;
  className?: string | undefined;
  /** The text so far, and whether the device could store it. */
  message: string;
  kept: Kept;
  /** Gets the content of the honeypot field. Resolves to the first invalid field, which then gets the focus. */
  onSend: (trapped: string) => Promise<keyof FormFields | undefined>;
  /** The fields. */
  children: ReactNode;
  /** The buttons below the fields. */
  actions?: ReactNode;
}

/** A form for messages to the team. It has a honeypot field against bots, and warns if a draft would be lost when the page is closed. */
export function MessageForm({ id, className, message, kept, onSend, children, actions }: MessageFormProps) {
  const { t } = useTranslation("contact");
  const form = useRef<HTMLFormElement>(null);
  const control = (name: string) => form.current?.querySelector<HTMLInputElement>(`[name=${CSS.escape(name)}]`);

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    const faulty = await onSend(control(trapName)?.value ?? "");
    if (faulty) control(faulty)?.focus();
  }

  return (
    <form ref={form} id={id} className={className} onSubmit={(event) => void send(event)} noValidate>
      {children}
      <div className={styles.trap} aria-hidden="true">
        <label>
          {t("trap")}
          <input type="text" name={trapName} tabIndex={-1} autoComplete="off" />
        </label>
      </div>
      {kept !== "kept" && message !== "" && <Alert tone="warning">{t(`unkept.${kept}`)}</Alert>}
      {actions}
    </form>
  );
}
