import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Panel } from "#client/components/panel.tsx";
import { useAct } from "#client/components/use-act.ts";
import { passkeyText } from "#client/i18n/passkey-text.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { passkeySupport } from "#client/lib/passkeys.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Passkey } from "#contract/auth/passkeys.ts";
import { dayMs } from "#domain/clock.ts";
import { readDevice } from "#domain/user-agent.ts";
import styles from "./account.module.css";
import { notLater } from "./not-later.ts";
import { NamePasskey, RemovePasskey } from "./passkey-dialogs.tsx";
import { Reading } from "./reading.tsx";
import { useHeadingFocus } from "./use-heading-focus.ts";
import { usePasskeys } from "./use-passkeys.ts";

/** What a new passkey is called until the person calls it something else: after where it is. */
function useSuggestedName(): (isApart: boolean) => string {
  const { t } = useTranslation("account");
  const { browser, system } = readDevice(navigator.userAgent);
  const here = browser !== null && system !== null ? t("sessions.device", { browser, system }) : (browser ?? system);
  return (isApart) => (isApart ? t("passkeys.place.security_key") : (here ?? t("passkeys.place.device")));
}

interface RowProps {
  passkey: Passkey;
  readAt: Date;
  onRename: () => void;
  onRemove: () => void;
}

function Row({ passkey, readAt, onRename, onRemove }: RowProps) {
  const { t } = useTranslation("account");
  const { relative, date } = useFormat();
  const id = useId();
  const { lastUsedAt } = passkey;
  const usedAt = lastUsedAt === null ? undefined : notLater(lastUsedAt, readAt);
  const when = usedAt && (readAt.getTime() - usedAt.getTime() < 7 * dayMs ? relative(usedAt, readAt) : date(usedAt));
  return (
    <li className={styles.row}>
      <div>
        <p className={styles.what} id={`${id}-name`}>
          {passkey.name}
        </p>
        <p className={styles.detail}>
          <span>{t(`passkeys.place.${passkey.place}`)}</span>
          <span>{when === undefined ? t("passkeys.unused") : t("sessions.lastUse", { when })}</span>
          <span>{t("passkeys.created", { date: date(passkey.createdAt) })}</span>
        </p>
      </div>
      <div className={styles.actions}>
        <Button id={`${id}-rename`} size="small" aria-labelledby={`${id}-rename ${id}-name`} onClick={onRename}>
          {t("passkeys.rename")}
        </Button>
        <Button id={`${id}-remove`} size="small" aria-labelledby={`${id}-remove ${id}-name`} onClick={onRemove}>
          {t("passkeys.remove")}
        </Button>
      </div>
    </li>
  );
}

type Open = { dialog: "name" | "remove"; passkey: Passkey } | undefined;

/** The person's passkeys: added, named and removed. */
export function PasskeysPanel({ userId }: { userId: string }) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  const { state, look, add, rename, remove } = usePasskeys(userId);
  const { heading, focusHeading } = useHeadingFocus();
  const { note, waitSeconds, busy, run } = useAct();
  const [open, setOpen] = useState<Open>();
  const suggestName = useSuggestedName();
  const support = passkeySupport();

  /** Asks what to call it only when it is made, so that one that was made is never lost. */
  async function begin(): Promise<void> {
    const passkey = await add(suggestName);
    if (!passkey) return;
    showToast({ title: t("account:passkeys.added") });
    setOpen({ dialog: "name", passkey });
  }
  function removed({ name }: Passkey): void {
    setOpen(undefined);
    showToast({ title: t("account:passkeys.removed", { name }) });
    focusHeading();
  }

  return (
    <Panel name="passkeys" title={t("account:passkeys.title")} heading={heading} lead={[t("account:passkeys.lead")]}>
      {note}
      <Reading state={state} look={look} label={t("account:passkeys.title")} rows={1} failed={t("account:passkeys.loadFailed")}>
        {(passkeys, readAt) =>
          passkeys.length === 0 ? (
            <p className={styles.soft}>{t("account:passkeys.empty")}</p>
          ) : (
            <ul className={styles.rows}>
              {passkeys.map((passkey) => (
                <Row
                  key={passkey.id}
                  passkey={passkey}
                  readAt={readAt}
                  onRename={() => setOpen({ dialog: "name", passkey })}
                  onRemove={() => setOpen({ dialog: "remove", passkey })}
                />
              ))}
            </ul>
          )
        }
      </Reading>
      {support === "yes" ? (
        <div className={styles.actions}>
          <Button
            busy={busy !== undefined}
            busyLabel={t("account:passkeys.adding")}
            aria-disabled={waitSeconds > 0}
            onClick={() => void run("add", begin, (error) => passkeyText(error, t("account:passkeys.cancelled")))}
          >
            {t("account:passkeys.add")}
          </Button>
        </div>
      ) : (
        <p className={styles.soft}>{t(support === "no" ? "account:passkeys.unsupported" : "account:passkeys.number")}</p>
      )}
      {open?.dialog === "name" && <NamePasskey passkey={open.passkey} rename={rename} onClose={() => setOpen(undefined)} />}
      {open?.dialog === "remove" && (
        <RemovePasskey passkey={open.passkey} remove={remove} onRemoved={() => removed(open.passkey)} onClose={() => setOpen(undefined)} />
      )}
    </Panel>
  );
}
