import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { EmailField, Select } from "#client/components/field.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import type { RefusedMail } from "#contract/admin/needs.ts";
import { checkEmail } from "#domain/rules.ts";
import { ActDialog } from "./act-dialog.tsx";

interface MailAgainProps {
  mail: RefusedMail;
  /** Also after a refusal, which says that something has changed. */
  onDone: () => void;
}

/** The address: that of the account now, if there is another one, or for an answer of the team's any. */
function Recipient({ mail, recipient, set }: { mail: RefusedMail; recipient: string; set: (recipient: string) => void }) {
  const { t } = useTranslation("admin");
  const { elsewhere, email } = mail;
  if (elsewhere === "any")
    return (
      <EmailField
        label={t("mailAgain.to")}
        hint={t("mailAgain.hint")}
        error={checkEmail(recipient) === undefined ? undefined : t("mailAgain.wrong")}
        autoComplete="off"
        required
        value={recipient}
        onChange={(event) => set(event.target.value)}
      />
    );
  if (elsewhere === null || email === null) return <p>{t("mailAgain.text", { email: recipient })}</p>;
  return (
    <Select
      label={t("mailAgain.to")}
      hint={t("mailAgain.account")}
      value={recipient}
      onChange={(event) => set(event.target.value)}
      options={[email, mail.recipient].map((value) => ({ value, label: value }))}
    />
  );
}

function MailAgainDialog({ mail, onClose, onDone }: MailAgainProps & { onClose: () => void }) {
  const { t } = useTranslation("admin");
  const { id, elsewhere, email } = mail;
  const isStale = useRef(false);
  const [recipient, setRecipient] = useState(elsewhere === "account" && email !== null ? email : mail.recipient);
  return (
    <ActDialog
      title={t("person.again.title")}
      action={t("person.again.title")}
      ready={elsewhere !== "any" || checkEmail(recipient) === undefined}
      onClose={() => (isStale.current ? onDone() : onClose())}
      onDone={onDone}
      wordsOf={(error) => {
        isStale.current = error instanceof ApiProblem && (error.code === "conflict" || error.code === "not_found");
        return isStale.current ? t("mailAgain.changed") : undefined;
      }}
      act={(reason) => api("POST /api/admin/refused-mails/again", { body: { id, recipient: recipient.trim(), reason } })}
    >
      <Recipient mail={mail} recipient={recipient} set={setRecipient} />
    </ActDialog>
  );
}

/** Sends a mail that was not delivered again. */
export function MailAgain({ mail, onDone }: MailAgainProps) {
  const { t } = useTranslation("admin");
  const [isOpen, setOpen] = useState(false);
  const finish = () => {
    setOpen(false);
    onDone();
  };
  return (
    <>
      <Button size="small" onClick={() => setOpen(true)}>
        {t("person.again.title")}
      </Button>
      {isOpen && <MailAgainDialog mail={mail} onClose={() => setOpen(false)} onDone={finish} />}
    </>
  );
}
