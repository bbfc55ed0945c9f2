import type { FormEvent } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { TextField } from "#client/components/field.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { api } from "#client/lib/api.ts";
import { refreshUser } from "#client/lib/session-refresh.ts";
import { codePoints, limits, readPersonName } from "#domain/rules.ts";
import styles from "./account.module.css";

/** Changes the name. An empty field takes it away. */
export function NameDialog({ current, onClose }: { current: string; onClose: () => void }) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  const [value, setValue] = useState(current);
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    const name = readPersonName(value);
    const isLong = codePoints(name ?? "") > limits.nameMax;
    setFault(isLong ? t("account:name.long", { max: limits.nameMax }) : undefined);
    if (isLong) return;
    clear();
    setBusy(true);
    try {
      await api("PATCH /api/account", { body: { name } });
      // The change is made. If this fails, the next refresh brings it.
      await refreshUser().catch(() => undefined);
      onClose();
    } catch (error) {
      refuse(error);
      setBusy(false);
    }
  }

  return (
    <Dialog open onClose={onClose} title={t("account:name.title")}>
      <form className={styles.form} onSubmit={(event) => void save(event)} noValidate>
        {note}
        <TextField
          label={t("account:name.label")}
          hint={t("account:name.hint")}
          name="name"
          autoComplete="name"
          value={value}
          error={fault}
          onChange={(event) => {
            setValue(event.target.value);
            setFault(undefined);
          }}
        />
        <Button type="submit" variant="primary" wide busy={busy} busyLabel={t("account:name.busy")} aria-disabled={waitSeconds > 0}>
          {t("account:name.save")}
        </Button>
      </form>
    </Dialog>
  );
}
