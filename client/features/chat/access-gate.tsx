import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { reasonText } from "#client/i18n/reason-text.ts";
import { offeredModels } from "#client/lib/offered-models.ts";
import { paths } from "#client/paths.ts";
import styles from "./access-gate.module.css";

/** Spec §4: model access is gated by sign-in, plan and credits (credits at the composer, where the price is). */
export type Access = { kind: "signedOut" } | { kind: "checking" } | { kind: "locked"; reason: string | null };

interface AccessGateProps {
  access: Access;
  /** The address to return to after signing in. */
  returnPath: string;
  onRefresh: () => void;
  /** What the free trial offers this person, or that it has ended: shown instead of the way to the plans. */
  trial?: ReactNode;
}

function SignedOut({ returnPath }: Pick<AccessGateProps, "returnPath">) {
  const { t } = useTranslation("chat");
  const signIn = (
    <LinkButton href={`${paths.auth}?return=${encodeURIComponent(returnPath)}`} variant="primary">
      {t("access.signIn")}
    </LinkButton>
  );
  return (
    <Alert title={t("access.signedOutTitle")} action={signIn}>
      {t("access.signedOutText")}
    </Alert>
  );
}

function Locked() {
  const { t } = useTranslation("chat");
  const plans = (
    <LinkButton href={paths.pricing} variant="primary">
      {t("access.viewPlans")}
    </LinkButton>
  );
  return (
    <Alert title={t("access.lockedTitle")} action={plans}>
      {t("access.lockedText", { count: offeredModels().length })}
    </Alert>
  );
}

/** Until the state is known, reserves the height of the tallest variant, so that nothing below moves. */
export function AccessGate({ access, returnPath, onRefresh, trial }: AccessGateProps) {
  const { t } = useTranslation("chat");
  if (access.kind === "locked" && access.reason !== null) {
    return (
      <Alert tone="warning" title={t("access.unverifiedTitle")} action={<Button onClick={onRefresh}>{t("access.refresh")}</Button>}>
        {reasonText(access.reason)}
      </Alert>
    );
  }
  const unless = (kind: Access["kind"]) => (access.kind === kind ? undefined : styles.room);
  return (
    <div className={styles.gate}>
      {access.kind === "checking" && <Spinner label={t("access.checking")} />}
      <div className={unless("signedOut")}>
        <SignedOut returnPath={returnPath} />
      </div>
      <div className={unless("locked")}>{trial ?? <Locked />}</div>
    </div>
  );
}
