import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { useAct } from "#client/components/use-act.ts";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem, api } from "#client/lib/api.ts";
import type { PlanChangePreview } from "#contract/billing/plan-change.ts";
import type { PriceId } from "#domain/plans.ts";
import { priceIdOf } from "#domain/plans.ts";
import styles from "./plan-change.module.css";
import type { Sold } from "./plan-change-acts.ts";
import { confirmChange } from "./plan-change-acts.ts";
import { PlanChangeView } from "./plan-change-preview.tsx";
import { useNamedPlan } from "./use-named-plan.ts";

type Looked = { preview: PlanChangePreview } | { refused: string };

/** The preview as the server has it now; `look` asks again. */
function usePreview(priceId: PriceId | null): { looked: Looked | undefined; look: () => void } {
  const [looked, setLooked] = useState<Looked>();
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    // Asked again after each `look`.
    void asked;
    setLooked(undefined);
    if (priceId === null) return;
    let current = true;
    api("POST /api/billing/plan-change/preview", { body: { priceId } }).then(
      (preview) => current && setLooked({ preview }),
      (error: unknown) => current && setLooked({ refused: error instanceof ApiProblem ? error.code : "network" }),
    );
    return () => {
      current = false;
    };
  }, [priceId, asked]);
  return { looked, look: useCallback(() => setAsked((times) => times + 1), []) };
}

/** Shows what a change of plan means, and makes it when the person confirms. `target` is null while the dialog is closed. */
export function PlanChangeDialog({ target, onClose }: { target: Sold | null; onClose: () => void }) {
  const { t } = useTranslation(["change", "order", "common"]);
  const priceId = target && priceIdOf(target.plan, target.interval);
  const { looked, look } = usePreview(priceId);
  const { busy, note, clear, run } = useAct<"confirm">();
  const nameOf = useNamedPlan();
  const preview = looked && "preview" in looked ? looked.preview : undefined;

  function close(): void {
    clear();
    onClose();
  }
  async function confirm(): Promise<void> {
    if (priceId === null || !preview) return;
    try {
      await confirmChange(priceId, preview);
      close();
    } catch (error) {
      if (error instanceof ApiProblem && error.code === "preview_outdated") look();
      throw error;
    }
  }

  const retry = (
    <Button size="small" onClick={look}>
      {t("common:retry")}
    </Button>
  );
  const actions = (
    <>
      <Button onClick={close}>{t("change:dialog.keep")}</Button>
      {preview && (
        <Button
          variant="primary"
          busy={busy !== undefined}
          busyLabel={t("change:dialog.confirming")}
          onClick={() => void run("confirm", confirm)}
        >
          {t("order:confirm")}
        </Button>
      )}
    </>
  );
  return (
    <Dialog
      open={priceId !== null}
      onClose={close}
      title={target ? t("change:dialog.title", { plan: nameOf(target) }) : ""}
      actions={actions}
    >
      <div className={styles.dialog}>
        {note}
        {preview && <PlanChangeView preview={preview} />}
        {looked && "refused" in looked && (
          <Alert tone="warning" title={t("change:dialog.failed")} action={retry}>
            {problemText(looked.refused)}
          </Alert>
        )}
        {!looked && <Spinner label={t("change:dialog.loading")} />}
      </div>
    </Dialog>
  );
}
