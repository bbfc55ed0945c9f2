import { useTranslation } from "react-i18next";
import { useAct } from "#client/components/use-act.ts";
import type { Passkey } from "#contract/auth/passkeys.ts";
import { limits, readPersonName } from "#domain/rules.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { NameDialog } from "./name-dialog.tsx";

interface NamePasskeyProps {
  passkey: Passkey;
  rename: (id: string, name: string) => Promise<void>;
  onClose: () => void;
}

export function NamePasskey({ passkey, rename, onClose }: NamePasskeyProps) {
  const { t } = useTranslation("account");
  return (
    <NameDialog
      title={t("passkeys.nameTitle")}
      field={{
        label: t("passkeys.name"),
        hint: t("passkeys.nameLead"),
        name: "passkey-name",
        autoComplete: "off",
        maxLength: limits.passkeyNameMax,
      }}
      current={passkey.name}
      faultOf={(name) => (readPersonName(name) === null ? t("passkeys.nameNeeded") : undefined)}
      save={(name) => rename(passkey.id, name)}
      submit={{ label: t("passkeys.save"), busyLabel: t("passkeys.saving") }}
      onClose={onClose}
    />
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
  const { t } = useTranslation("account");
  const { busy, run, ...refusal } = useAct();
  const confirm = async () => {
    if (await remove(passkey.id)) onRemoved();
  };
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t("passkeys.removeTitle")}
      action={{
        label: t("passkeys.remove"),
        busyLabel: t("passkeys.removing"),
        busy: busy !== undefined,
        run: () => void run("remove", confirm),
      }}
      refusal={refusal}
    >
      {t("passkeys.removeText", { name: passkey.name })}
    </ConfirmDialog>
  );
}
