import type { FormEvent } from "react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { TextField } from "#client/components/field.tsx";
import { Panel } from "#client/components/panel.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { adoptDeletion } from "#client/lib/session-store.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { dayMs } from "#domain/clock.ts";
import { deletionMs } from "#domain/periods.ts";
import styles from "./account.module.css";

/** What the person has paid for. Null: nothing; undefined: not known. */
export type PaidPlan = { name: string; until: string } | null | undefined;

/** Undefined until they are known, and if they can't be read. */
function useUnspentCredits(): number | undefined {
  const [balance, setBalance] = useState<number>();
  useEffect(() => {
    const controller = new AbortController();
    api("GET /api/credits/wallet", { signal: controller.signal }).then(
      (wallet) => setBalance(wallet.balance),
      () => {},
    );
    return () => controller.abort();
  }, []);
  return balance;
}

/** What is deleted, what stays, and what becomes of the money. */
function Consequences({ plan }: { plan: PaidPlan }) {
  const { t } = useTranslation("account");
  const { date, number } = useFormat();
  const credits = useUnspentCredits();
  return (
    <ul className={styles.points}>
      <li>{t("deletion.goes")}</li>
      <li>{t("deletion.stays")}</li>
      {plan !== null && <li>{plan ? t("deletion.plan", { plan: plan.name, date: date(plan.until) }) : t("deletion.planAny")}</li>}
      {credits !== undefined && credits > 0 && <li>{t("deletion.credits", { count: credits, credits: number(credits) })}</li>}
      <li>{t("deletion.device")}</li>
    </ul>
  );
}

interface DeletionFormProps {
  email: string;
  onCancel: () => void;
  /** Called with the time at which the account will be deleted, before the person is signed out. */
  onDeleted: (deleteAt: string) => void;
}

function DeletionForm({ email, onCancel, onDeleted }: DeletionFormProps) {
  const { t } = useTranslation(["account", "errors", "refusals"]);
  const { note, waitSeconds, refuse, clear } = useRefusal();
  const form = useRef<HTMLFormElement>(null);
  const [typed, setTyped] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  useEffect(() => form.current?.querySelector("input")?.focus(), []);

  function blame(): void {
    setFault(t("account:deletion.wrong"));
    form.current?.querySelector("input")?.focus();
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    clear();
    if (typed.trim().toLowerCase() !== email) return blame();
    setBusy(true);
    try {
      const deleted = await withStepUp(() => api("POST /api/account/deletion", { body: { email: typed } }));
      if (!deleted) return;
      onDeleted(deleted.deleteAt);
      adoptDeletion();
    } catch (error) {
      if (error instanceof ApiProblem && error.code === "validation_failed") blame();
      else refuse(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form ref={form} className={styles.narrow} onSubmit={(event) => void submit(event)} noValidate>
      {note}
      <TextField
        label={t("account:deletion.typed", { email })}
        type="email"
        name="confirm"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setFault(undefined);
        }}
        error={fault}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
      <div className={styles.actions}>
        <Button type="submit" variant="danger" busy={busy} busyLabel={t("account:deletion.busy")} aria-disabled={waitSeconds > 0}>
          {t("account:deletion.submit")}
        </Button>
        <Button onClick={onCancel}>{t("account:deletion.cancel")}</Button>
      </div>
    </form>
  );
}

/** Says what a deletion means, and deletes the account once its address is typed. The page must show a StepUpDialog. */
export function DeletionPanel({ email, plan, onDeleted }: { email: string; plan: PaidPlan; onDeleted: (deleteAt: string) => void }) {
  const { t } = useTranslation("account");
  const [asking, setAsking] = useState(false);
  return (
    <Panel name="deletion" title={t("deletion.title")}>
      <p>{t("deletion.lead", { days: deletionMs / dayMs })}</p>
      <Consequences plan={plan} />
      <p>{t("deletion.export")}</p>
      {asking ? (
        <DeletionForm email={email} onCancel={() => setAsking(false)} onDeleted={onDeleted} />
      ) : (
        <div className={styles.actions}>
          <Button onClick={() => setAsking(true)}>{t("deletion.begin")}</Button>
        </div>
      )}
    </Panel>
  );
}
