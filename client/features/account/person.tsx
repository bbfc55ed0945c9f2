import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import type { User } from "#contract/auth.ts";
import { Face } from "./face.tsx";
import { NameDialog } from "./name-dialog.tsx";
import styles from "./person.module.css";
import { PictureDialog } from "./picture-dialog.tsx";

/** Picture and name, which the person can change. `children` stands below the name. */
export function Person({ user, children }: { user: User; children: ReactNode }) {
  const { t } = useTranslation("account");
  const [dialog, setDialog] = useState<"name" | "picture">();
  const { avatar_url, name } = user.user_metadata;
  const close = () => setDialog(undefined);
  return (
    <div className={styles.person}>
      <Face user={user} />
      <div className={styles.words}>
        {name && <p className={styles.name}>{name}</p>}
        {children}
        <div className={styles.actions}>
          <Button size="small" onClick={() => setDialog("picture")}>
            {t(avatar_url === null ? "picture.add" : "picture.change")}
          </Button>
          <Button size="small" onClick={() => setDialog("name")}>
            {t(name ? "name.change" : "name.add")}
          </Button>
        </div>
      </div>
      {dialog === "name" && <NameDialog current={name ?? ""} onClose={close} />}
      {dialog === "picture" && <PictureDialog hasPicture={avatar_url !== null} onClose={close} />}
    </div>
  );
}
