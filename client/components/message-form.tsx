import type { FormEvent, ReactNode } from "react";
import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import type { FormFields } from "#client/offline/form-drafts.ts";
import type { Kept } from "#client/offline/store.ts";
import styles from "./message-form.module.css";

/** Named so that robots fill it in; the API files away what comes with it. */
const trapName = "website";

interface MessageFormProps {
  id?: string;
  className?: string | undefined;
  /** What has been written so far, and what the device made of keeping it. */
  message: string;
  kept: Kept;
  /** Gets what stands in the trap; resolves to the first field at fault, which then takes the focus. */
  onSend: (trapped: string) => Promise<keyof FormFields | undefined>;
  /** The fields. */
  children: ReactNode;
  /** What stands below them, in the form. */
  actions?: ReactNode;
}

/** A form whose words go to the team: with a trap for robots, and a warning where a draft would not outlive the page. */
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
