import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { EmailField } from "#client/components/field.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { ActDialog } from "./act-dialog.tsx";

/** Mails the link of a waiting sign-up again. Whoever waits for it has no account yet, and so no page here. */
export function ConfirmAgain({ onSent }: { onSent: (email: string) => void }) {
  const { t } = useTranslation("admin");
  const [isOpen, setOpen] = useState(false);
  const [email, setEmail] = useState("");
  return (
    <>
      <Button size="small" onClick={() => setOpen(true)}>
        {t("people.confirm.title")}
      </Button>
      {isOpen && (
        <ActDialog
          title={t("people.confirm.title")}
          action={t("people.confirm.send")}
          ready={email.includes("@")}
          onClose={() => setOpen(false)}
          onDone={() => {
            onSent(email.trim());
            setOpen(false);
          }}
          wordsOf={(error) => (error instanceof ApiProblem && error.code === "not_found" ? t("people.confirm.none") : undefined)}
          act={(reason) => api("POST /api/admin/sign-ups/again", { body: { email: email.trim(), reason } })}
        >
          <p>{t("people.confirm.text")}</p>
          <EmailField
            label={t("people.email")}
            autoComplete="off"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        </ActDialog>
      )}
    </>
  );
}
