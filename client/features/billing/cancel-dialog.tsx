import type { ReactNode } from "react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { useAct } from "#client/components/use-act.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import { plans } from "#domain/plans.ts";
import styles from "./plan-change.module.css";
import { cancelPlan } from "./plan-change-acts.ts";
import { useNamedPlan } from "./use-named-plan.ts";
import { refreshWalletInUse, useWallet } from "./wallet-store.ts";

interface EndingProps {
  open: boolean;
  onClose: () => void;
  title: string;
  confirm: string;
  /** What it ends and what it leaves. */
  children: ReactNode;
}

/** Asks once more before the plan is cancelled. */
function Ending({ open, onClose, title, confirm, children }: EndingProps) {
  const { t } = useTranslation("change");
  const { busy, note, clear, run } = useAct<"cancel">();

  function close(): void {
    clear();
    onClose();
  }
  async function cancel(): Promise<void> {
    await cancelPlan();
    close();
  }
  const actions = (
    <>
      <Button variant="danger" busy={busy !== undefined} busyLabel={t("cancel.confirming")} onClick={() => void run("cancel", cancel)}>
        {confirm}
      </Button>
      <Button variant="primary" onClick={close}>
        {t("cancel.keep")}
      </Button>
    </>
  );
  return (
    <Dialog open={open} onClose={close} title={title} actions={actions}>
      <div className={styles.dialog}>
        {note}
        {children}
      </div>
    </Dialog>
  );
}

/** For a plan on hold, which gives nothing until the end of its period: it ends at once. `pays`: an invoice of it is open. */
export function EndDialog({ pays, open, onClose }: { pays: boolean; open: boolean; onClose: () => void }) {
  const { t } = useTranslation("change");
  return (
    <Ending open={open} onClose={onClose} title={t("suspended.open")} confirm={t("suspended.confirm")}>
      <ul className={styles.points}>
        <li>{t("suspended.ends")}</li>
        {pays && <li>{t("suspended.drops")}</li>}
        <li>{t("cancel.stays")}</li>
      </ul>
    </Ending>
  );
}

interface CancelDialogProps {
  check: SubscriptionCheck;
  open: boolean;
  onClose: () => void;
}

/** Says what a cancellation ends and what it leaves, before it is confirmed. */
export function CancelDialog({ check, open, onClose }: CancelDialogProps) {
  const { t } = useTranslation("change");
  const { date, credits } = useFormat();
  const nameOf = useNamedPlan();
  const grants = useWallet(({ wallet }) => wallet?.grants) ?? [];
  const left = grants.reduce((sum, { kind, remaining }) => (kind === "pack" ? sum + remaining : sum), 0);
  const { subscription_tier: tier, subscription_end: end, plan_to_come: coming } = check;
  useEffect(() => {
    if (open) void refreshWalletInUse();
  }, [open]);

  if (tier === "none" || end === null) return null;
  const day = { date: date(end) };
  return (
    <Ending open={open} onClose={onClose} title={t("cancel.title", { plan: plans[tier].name })} confirm={t("cancel.confirm")}>
      <p>{t("cancel.until", day)}</p>
      <ul className={styles.points}>
        {coming && <li>{t("cancel.drops", { plan: nameOf(coming) })}</li>}
        <li>{t("cancel.stop")}</li>
        {left > 0 && <li>{t("cancel.packs", { credits: credits(left) })}</li>}
        <li>{t("cancel.stays")}</li>
        <li>{t("cancel.resume", day)}</li>
      </ul>
    </Ending>
  );
}
