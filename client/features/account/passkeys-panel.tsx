import { useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Card } from "#client/components/card.tsx";
import type { Refusal } from "#client/components/use-refusal.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { passkeyText } from "#client/i18n/passkey-text.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { passkeySupport } from "#client/lib/passkeys.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Passkey } from "#contract/passkeys.ts";
import { dayMs } from "#domain/clock.ts";
import { readDevice } from "#domain/user-agent.ts";
import styles from "./account.module.css";
import { NamePasskey, RemovePasskey } from "./passkey-dialogs.tsx";
import { RowsLoading } from "./rows-loading.tsx";
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
  // A clock of this device that is behind the server's must not put it in the future.
  const usedAt = lastUsedAt === null ? undefined : new Date(Math.min(Date.parse(lastUsedAt), readAt.getTime()));
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

/** Adds a passkey and then asks what to call it, so that one that was made is never lost. */
function useAdding(add: ReturnType<typeof usePasskeys>["add"], refusal: Refusal, onAdded: (passkey: Passkey) => void) {
  const { t } = useTranslation("account");
  const suggest = useSuggestedName();
  const [busy, setBusy] = useState(false);
  async function begin(): Promise<void> {
    if (refusal.waitSeconds > 0) return;
    refusal.clear();
    setBusy(true);
    try {
      const passkey = await add(suggest);
      if (passkey) onAdded(passkey);
    } catch (error) {
      refusal.refuse(error, passkeyText(error, t("passkeys.cancelled")));
    } finally {
      setBusy(false);
    }
  }
  return { busy, begin };
}

type Open = { dialog: "name" | "remove"; passkey: Passkey } | undefined;

/** The person's passkeys: added, named and removed. */
export function PasskeysPanel({ userId }: { userId: string }) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  const { state, look, add, rename, remove } = usePasskeys(userId);
  const heading = useRef<HTMLHeadingElement>(null);
  const refusal = useRefusal();
  const [open, setOpen] = useState<Open>();
  const { busy, begin } = useAdding(add, refusal, (passkey) => {
    showToast({ title: t("account:passkeys.added") });
    setOpen({ dialog: "name", passkey });
  });
  const support = passkeySupport();
  const passkeys = state.status === "known" ? state.passkeys : [];

  function removed({ name }: Passkey): void {
    setOpen(undefined);
    showToast({ title: t("account:passkeys.removed", { name }) });
    // The button that had the focus is gone.
    heading.current?.focus();
  }

  return (
    <Card as="section" className={styles.list ?? ""} aria-labelledby="passkeys-title">
      <h2 id="passkeys-title" ref={heading} tabIndex={-1}>
        {t("account:passkeys.title")}
      </h2>
      <p className={styles.lead}>{t("account:passkeys.lead")}</p>
      {refusal.note}
      {state.status === "loading" && <RowsLoading label={t("account:passkeys.title")} rows={1} />}
      {state.status === "failed" && (
        <Alert
          tone="warning"
          action={
            <Button size="small" onClick={look}>
              {t("account:retry")}
            </Button>
          }
        >
          {t("account:passkeys.loadFailed")}
        </Alert>
      )}
      {state.status === "known" && passkeys.length === 0 && <p className={styles.soft}>{t("account:passkeys.empty")}</p>}
      {state.status === "known" && passkeys.length > 0 && (
        <ul className={styles.rows}>
          {passkeys.map((passkey) => (
            <Row
              key={passkey.id}
              passkey={passkey}
              readAt={state.readAt}
              onRename={() => setOpen({ dialog: "name", passkey })}
              onRemove={() => setOpen({ dialog: "remove", passkey })}
            />
          ))}
        </ul>
      )}
      {support === "yes" ? (
        <div className={styles.actions}>
          <Button busy={busy} busyLabel={t("account:passkeys.adding")} aria-disabled={refusal.waitSeconds > 0} onClick={() => void begin()}>
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
    </Card>
  );
}
