import type { FormEvent } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { TextField } from "#client/components/field.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import type { Passkey } from "#contract/passkeys.ts";
import { limits, readPersonName } from "#domain/rules.ts";
import styles from "./account.module.css";

interface NamePasskeyProps {
  passkey: Passkey;
  rename: (id: string, name: string) => Promise<void>;
  onClose: () => void;
}

export function NamePasskey({ passkey, rename, onClose }: NamePasskeyProps) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  const [name, setName] = useState(passkey.name);
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    const isMissing = readPersonName(name) === null;
    setFault(isMissing ? t("account:passkeys.nameNeeded") : undefined);
    if (isMissing) return;
    clear();
    setBusy(true);
    try {
      await rename(passkey.id, name);
      onClose();
    } catch (error) {
      refuse(error);
      setBusy(false);
    }
  }

  return (
    <Dialog open onClose={onClose} title={t("account:passkeys.nameTitle")}>
      <form className={styles.form} onSubmit={(event) => void save(event)} noValidate>
        {note}
        <TextField
          label={t("account:passkeys.name")}
          hint={t("account:passkeys.nameLead")}
          name="passkey-name"
          autoComplete="off"
          maxLength={limits.passkeyNameMax}
          value={name}
          error={fault}
          onChange={(event) => {
            setName(event.target.value);
            setFault(undefined);
          }}
        />
        <Button type="submit" variant="primary" wide busy={busy} busyLabel={t("account:passkeys.saving")} aria-disabled={waitSeconds > 0}>
          {t("account:passkeys.save")}
        </Button>
      </form>
    </Dialog>
  );
}

interface RemovePasskeyProps {
  passkey: Passkey;
  /** False when the person gave up to show a factor. */
  remove: (id: string) => Promise<boolean>;
  onRemoved: () => void;
  onClose: () => void;
}

export function RemovePasskey({ passkey, remove, onRemoved, onClose }: RemovePasskeyProps) {
  const { t } = useTranslation(["account", "auth", "common", "errors", "refusals"]);
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function confirm(): Promise<void> {
    if (waitSeconds > 0) return;
    clear();
    setBusy(true);
    try {
      if (await remove(passkey.id)) onRemoved();
    } catch (error) {
      refuse(error);
    } finally {
      setBusy(false);
    }
  }

  const actions = (
    <>
      <Button onClick={onClose}>{t("common:cancel")}</Button>
      <Button
        variant="danger"
        busy={busy}
        busyLabel={t("account:passkeys.removing")}
        aria-disabled={waitSeconds > 0}
        onClick={() => void confirm()}
      >
        {t("account:passkeys.remove")}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t("account:passkeys.removeTitle")} actions={actions}>
      <div className={styles.form}>
        <p>{t("account:passkeys.removeText", { name: passkey.name })}</p>
        {note}
      </div>
    </Dialog>
  );
}
