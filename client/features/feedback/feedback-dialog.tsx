import { useId } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { EmailField, TextArea, TextField } from "#client/components/field.tsx";
import { MessageForm } from "#client/components/message-form.tsx";
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
  const { t } = useTranslation(["feedback", "common"]);
  const { fields, kept, faults, sending, edit, submit } = useFeedbackForm(owner, email);
  const formId = useId();

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
      <MessageForm id={formId} message={fields.message} kept={kept} onSend={submit} className={styles.form}>
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
        <EmailField
          label={t("email")}
          name="email"
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
      </MessageForm>
    </Dialog>
  );
}
