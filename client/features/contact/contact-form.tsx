import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useSearch } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { EmailField, Select, TextArea, TextField } from "#client/components/field.tsx";
import { Late } from "#client/components/late.tsx";
import { MessageForm } from "#client/components/message-form.tsx";
import type { FormFields } from "#client/offline/form-drafts.ts";
import { contactCategories } from "#domain/contact.ts";
import { limits } from "#domain/rules.ts";
import { CharacterCount } from "./character-count.tsx";
import styles from "./contact.module.css";
import { Delivered } from "./delivered.tsx";
import { mergeGiven, readGiven, withoutGiven } from "./given-fields.ts";
import type { ContactFaultTexts } from "./use-contact-form.ts";
import { useContactForm } from "./use-contact-form.ts";

interface ContactFormProps {
  /** The signed-in person's id, null when nobody is, undefined until that is known. */
  owner: string | null | undefined;
  /** The signed-in person's email. */
  email: string | undefined;
}

const loadQueue = async () => (await import("./form-queue.tsx")).FormQueue;

export function ContactForm({ owner, email }: ContactFormProps) {
  const { t } = useTranslation("contact");
  const { fields, ready, kept, status, trouble, edit, submit, again } = useContactForm(owner, email);
  useGiven(ready, fields, edit);

  if (status.step === "sent" || status.step === "queued") return <Delivered status={status} onAgain={again} />;
  const actions = (
    <>
      <div className={styles.send}>
        <Button type="submit" variant="primary" busy={status.step === "sending"} busyLabel={t("sending")}>
          {t("send")}
        </Button>
        <p className={styles.note}>{t("required")}</p>
      </div>
      {/* Loaded after the page. It is placed below the form, so that it doesn't move fields or buttons. */}
      <Late load={loadQueue} owner={owner} />
    </>
  );
  return (
    <MessageForm className={styles.form} message={fields.message} kept={kept} onSend={submit} actions={actions}>
      {trouble.refusal && <Alert tone="danger">{trouble.refusal}</Alert>}
      <Sender fields={fields} faults={trouble.faults} onEdit={edit} />
      <Letter fields={fields} faults={trouble.faults} onEdit={edit} />
    </MessageForm>
  );
}

/** Fills in the fields from the address once the stored draft is known. */
function useGiven(ready: boolean, fields: FormFields, edit: (part: Partial<FormFields>) => void): void {
  const search = useSearch();
  const [path, navigate] = useLocation();
  useEffect(() => {
    const given = ready ? readGiven(search) : {};
    if (Object.keys(given).length === 0) return;
    edit(mergeGiven(fields, given));
    navigate(withoutGiven(path, search), { replace: true });
  }, [ready, search, path, fields, edit, navigate]);
}

interface PartProps {
  fields: FormFields;
  faults: ContactFaultTexts;
  onEdit: (part: Partial<FormFields>) => void;
}

function Sender({ fields, faults, onEdit }: PartProps) {
  const { t } = useTranslation("contact");
  return (
    <div className={styles.pair}>
      <div>
        <TextField
          label={t("name")}
          name="name"
          autoComplete="name"
          required
          value={fields.name}
          onChange={(event) => onEdit({ name: event.target.value })}
          error={faults.name}
        />
        <CharacterCount value={fields.name} maximum={limits.nameMax} />
      </div>
      <EmailField
        label={t("email")}
        name="email"
        required
        value={fields.email}
        onChange={(event) => onEdit({ email: event.target.value })}
        error={faults.email}
      />
    </div>
  );
}

function Letter({ fields, faults, onEdit }: PartProps) {
  const { t } = useTranslation("contact");
  const category = contactCategories.find((candidate) => candidate === fields.category) ?? "support";
  return (
    <>
      <div className={styles.pair}>
        <Select
          label={t("category")}
          name="category"
          required
          value={category}
          onChange={(event) => onEdit({ category: event.target.value })}
          error={faults.category}
          options={contactCategories.map((value) => ({ value, label: t(`categories.${value}`) }))}
        />
        <div>
          <TextField
            label={t("subject")}
            name="subject"
            value={fields.subject}
            onChange={(event) => onEdit({ subject: event.target.value })}
            error={faults.subject}
          />
          <CharacterCount value={fields.subject} maximum={limits.subjectMax} />
        </div>
      </div>
      <div>
        <TextArea
          label={t("message")}
          hint={t(`hints.${category}`)}
          name="message"
          rows={8}
          required
          value={fields.message}
          onChange={(event) => onEdit({ message: event.target.value })}
          error={faults.message}
        />
        <CharacterCount value={fields.message} maximum={limits.messageMax} />
      </div>
    </>
  );
}
