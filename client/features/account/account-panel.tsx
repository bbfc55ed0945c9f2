import { Check, Copy, X } from "lucide-react";
import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#client/components/button.tsx";
import { useCopy } from "#client/lib/use-copy.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { User } from "#contract/auth/sign-in.ts";
import styles from "./account.module.css";
import { LoadFailed } from "./load-failed.tsx";
import { Person } from "./person.tsx";
import { SignOut } from "./sign-out.tsx";
import { useAccount } from "./use-account.ts";
import { WaitingEmail } from "./waiting-email.tsx";

const copyIcons = { idle: Copy, copied: Check, failed: X };

function CopyId({ id }: { id: string }) {
  const { t } = useTranslation("account");
  const { state, copy } = useCopy();
  const Icon = copyIcons[state];
  return (
    <IconButton label={t(`copyId.${state}`)} onClick={() => copy(id)}>
      <Icon size={18} aria-hidden="true" />
    </IconButton>
  );
}

interface AccountPanelProps {
  user: User;
  /** Language and theme: other features, so the page puts them in. */
  preferences: ReactNode;
}

export function AccountPanel({ user, preferences }: AccountPanelProps) {
  const { t } = useTranslation("account");
  const { date, dateTime } = useFormat();
  const { state, read } = useAccount(user.id);
  const [justAsked, setJustAsked] = useState(false);
  const account = state.status === "ready" ? state.account : undefined;

  function asked(): void {
    setJustAsked(true);
    read();
  }

  return (
    <header className={styles.panel}>
      <div className={styles.head}>
        <h1>{t("title")}</h1>
        {/* Another person's sign-in in another tab closes the dialogs of this one's. */}
        <Person key={user.id} user={user} known={account !== undefined} onAsked={asked} />
        <SignOut />
      </div>
      {account?.newEmail && <WaitingEmail key={account.newEmail.email} asked={account.newEmail} justSent={justAsked} onChanged={read} />}
      {state.status === "failed" && <LoadFailed onRetry={read}>{t("failed")}</LoadFailed>}
      <dl className={styles.facts}>
        <div>
          <dt>{t("memberSince")}</dt>
          <dd>{account ? date(account.createdAt) : "–"}</dd>
        </div>
        <div>
          <dt>{t("lastSignIn")}</dt>
          <dd>{account ? (account.lastSignInAt === null ? t("never") : dateTime(account.lastSignInAt)) : "–"}</dd>
        </div>
        <div>
          <dt>{t("userId")}</dt>
          <dd className={styles.copied}>
            <span className={styles.id}>{user.id}</span>
            <CopyId id={user.id} />
          </dd>
        </div>
        <div>
          <dt>{t("preferences")}</dt>
          <dd className={styles.preferences}>{preferences}</dd>
        </div>
      </dl>
    </header>
  );
}
