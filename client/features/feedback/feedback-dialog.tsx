import type { FormEvent } from "react";
import { useId, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { TextArea, TextField } from "#client/components/field.tsx";
import styles from "./feedback.module.css";
import { closeFeedback } from "./feedback-store.ts";
import { useFeedbackForm } from "./use-feedback-form.ts";

interface FeedbackDialogProps {
  open: boolean;
  /** The signed-in person's id, null when nobody is, undefined until that is known. */
  owner: string | null | undefined;
  email: string | undefined;
}

export function FeedbackDialog({ open, owner, email }: FeedbackDialogProps) {
  const { t } = useTranslation(["feedback", "contact", "common"]);
  const { fields, kept, faults, sending, edit, submit } = useFeedbackForm(owner, email);
  const form = useRef<HTMLFormElement>(null);
  const formId = useId();

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    const faulty = await submit(form.current?.querySelector<HTMLInputElement>("[name=website]")?.value ?? "");
    if (faulty) form.current?.querySelector<HTMLElement>(`[name=${CSS.escape(faulty)}]`)?.focus();
  }

  const actions = (
    <>
      <Button onClick={closeFeedback}>{t("common:cancel")}</Button>
      <Button type="submit" form={formId} variant="primary" busy={sending} busyLabel={t("sending")}>
        {t("send")}
      </Button>
    </>
  );
  return (
    <Dialog open={open} onClose={closeFeedback} title={t("title")} actions={actions}>
      <form ref={form} id={formId} className={styles.form} onSubmit={(event) => void send(event)} noValidate>
        <p className={styles.text}>{t("lead")}</p>
        <TextField
          label={t("name")}
          name="name"
          autoComplete="name"
          required
          value={fields.name}
          onChange={(event) => edit({ name: event.target.value })}
          error={faults.name}
        />
        <TextField
          label={t("email")}
          name="email"
          type="email"
          inputMode="email"
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
          required
          value={fields.email}
          onChange={(event) => edit({ email: event.target.value })}
          error={faults.email}
        />
        <TextArea
          label={t("message")}
          name="message"
          required
          value={fields.message}
          onChange={(event) => edit({ message: event.target.value })}
          error={faults.message}
        />
        <div className={styles.trap} aria-hidden="true">
          <label>
            {t("contact:trap")}
            <input type="text" name="website" tabIndex={-1} autoComplete="off" />
          </label>
        </div>
        {kept !== "kept" && fields.message !== "" && <Alert tone="warning">{t(`contact:unkept.${kept}`)}</Alert>}
      </form>
    </Dialog>
  );
}
