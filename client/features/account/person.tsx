import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { api } from "#client/lib/api.ts";
import { refreshUser } from "#client/lib/session-refresh.ts";
import type { User } from "#contract/auth/sign-in.ts";
import { codePoints, limits, readPersonName } from "#domain/rules.ts";
import { EmailDialog } from "./email-dialog.tsx";
import { Face } from "./face.tsx";
import { NameDialog } from "./name-dialog.tsx";
import styles from "./person.module.css";
import { PictureDialog } from "./picture-dialog.tsx";

async function saveName(name: string): Promise<void> {
  await api("PATCH /api/account", { body: { name: readPersonName(name) } });
  // The change is made. If this fails, the next refresh brings it.
  await refreshUser().catch(() => undefined);
}

/** An empty field takes the name away. */
function OwnName({ current, onClose }: { current: string; onClose: () => void }) {
  const { t } = useTranslation("account");
  const isLong = (name: string) => codePoints(readPersonName(name) ?? "") > limits.nameMax;
  return (
    <NameDialog
      title={t("name.title")}
      field={{ label: t("name.label"), hint: t("name.hint"), name: "name", autoComplete: "name" }}
      current={current}
      faultOf={(name) => (isLong(name) ? t("name.long", { max: limits.nameMax }) : undefined)}
      save={saveName}
      submit={{ label: t("name.save"), busyLabel: t("name.busy") }}
      onClose={onClose}
    />
  );
}

interface PersonProps {
  user: User;
  /** Whether the account is loaded. */
  known: boolean;
  /** Called when a link to another address is on its way. */
  onAsked: () => void;
}

/** Picture, name and address, which the person can change. */
export function Person({ user, known, onAsked }: PersonProps) {
  const { t } = useTranslation("account");
  const [dialog, setDialog] = useState<"name" | "picture" | "email">();
  const { avatar_url, name } = user.user_metadata;
  const close = () => setDialog(undefined);
  return (
    <div className={styles.person}>
      <Face user={user} />
      <div className={styles.words}>
        {name && <p className={styles.name}>{name}</p>}
        <p className={styles.email}>
          <span className={styles.address}>{user.email}</span>
          {/* Takes its space before the account is loaded, so that nothing shifts. */}
          <Badge tone="good" className={known ? "" : (styles.unknown ?? "")}>
            {t("verified")}
          </Badge>
        </p>
      </div>
      <div className={styles.actions}>
        <Button size="small" onClick={() => setDialog("email")}>
          {t("email.change")}
        </Button>
        <Button size="small" onClick={() => setDialog("name")}>
          {t(name ? "name.change" : "name.add")}
        </Button>
        <Button size="small" onClick={() => setDialog("picture")}>
          {t(avatar_url === null ? "picture.add" : "picture.change")}
        </Button>
      </div>
      {dialog === "name" && <OwnName current={name ?? ""} onClose={close} />}
      {dialog === "picture" && <PictureDialog hasPicture={avatar_url !== null} onClose={close} />}
      {dialog === "email" && (
        <EmailDialog
          current={user.email}
          onClose={close}
          onSent={() => {
            close();
            onAsked();
          }}
        />
      )}
    </div>
  );
}
