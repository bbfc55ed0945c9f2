import i18next from "i18next";
import { useCallback, useEffect, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem, api } from "#client/lib/api.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { paths } from "#client/paths.ts";
import type { Consent, OrderPreview } from "#contract/billing/orders.ts";
import styles from "./order.module.css";
import { OrderConsent, OrderView } from "./order-view.tsx";

/** The texts of this dialog and of what can go wrong in it. */
export const orderTexts = ["order", "billing", "change", "invoices", "refunds", "errors", "refusals"] as const;

/** What somebody wants to buy. */
export interface Wanted {
  priceId: string;
  /** `transfer`: the plan that the team offers to be paid by bank transfer. */
  kind: "plan" | "pack" | "transfer";
}

/** `days`: in how many days an invoice is to be paid by transfer. */
type Looked = { preview: OrderPreview; days?: number } | { refused: string };

async function read({ priceId, kind }: Wanted): Promise<Looked> {
  if (kind !== "transfer") return { preview: await api("POST /api/billing/order/preview", { body: { priceId } }) };
  const { offer } = await api("GET /api/billing/transfer-offer");
  return offer ? { preview: offer.order, days: offer.daysUntilDue } : { refused: "not_found" };
}

/** The order as the server would bill it now; `look` asks again. */
function useOrder(wanted: Wanted | null): { looked: Looked | undefined; look: () => void } {
  const [looked, setLooked] = useState<Looked>();
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    // Asked again after each `look`.
    void asked;
    setLooked(undefined);
    if (wanted === null) return;
    let current = true;
    read(wanted).then(
      (found) => current && setLooked(found),
      (error: unknown) => current && setLooked({ refused: error instanceof ApiProblem ? error.code : "network" }),
    );
    return () => {
      current = false;
    };
  }, [wanted, asked]);
  return { looked, look: useCallback(() => setAsked((times) => times + 1), []) };
}

/** Orders, and opens the payment page; returns whether it stays on this one, because an invoice is sent. */
async function order({ priceId, kind }: Wanted, { amountCents, terms, withdrawal }: OrderPreview): Promise<boolean> {
  const consent: Consent = { amountCents, terms, withdrawal, language: i18next.language, beginAtOnce: true };
  if (kind === "transfer") {
    await api("POST /api/billing/transfer-offer/order", { body: { consent } });
    showToast({ tone: "good", title: i18next.t("order:offer.ordered") });
    return true;
  }
  const { url } = await (kind === "plan"
    ? api("POST /api/functions/create-checkout", { body: { priceId, consent } })
    : api("POST /api/billing/packs/checkout", { body: { pack: priceId, consent } }));
  if (!url) throw new Error(i18next.t("billing:checkout.noUrl"), { cause: i18next.t("billing:checkout.noUrlAdvice") });
  window.location.assign(url);
  return false;
}

/** The specification's sentence first. If it doesn't say what to do, a second line does. */
function sayFailed(error: unknown, { kind }: Wanted): void {
  const { t } = i18next;
  const known = error instanceof ApiProblem ? problemText(error.code, error) : undefined;
  const own = error instanceof Error && error.name === "Error" ? error : undefined;
  const message = known ?? own?.message ?? problemText("network");
  // That sentence is about subscribing.
  const failed = kind === "plan" ? t("billing:checkout.failedText", { message }) : message;
  const text = typeof own?.cause === "string" ? `${failed}\n${own.cause}` : failed;
  showToast({ tone: "danger", title: t(kind === "plan" ? "billing:checkout.failed" : "order:notPlaced"), text });
}

interface OrderDialogProps {
  /** Null while the dialog is closed. */
  wanted: Wanted | null;
  onClose: () => void;
  processing: boolean;
  onProcessing: (priceId: string | null) => void;
}

/** What the person sees and answers in the dialog, and how they order. */
function useOrdering({ wanted, onClose, processing, onProcessing }: OrderDialogProps) {
  const { looked, look } = useOrder(wanted);
  const [agreed, setAgreed] = useState(false);
  const [missing, setMissing] = useState(false);
  const [outdated, setOutdated] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const preview = looked && "preview" in looked ? looked.preview : undefined;
  // On a phone the note may appear below the visible part of the dialog.
  useEffect(() => {
    if (missing) box.current?.scrollIntoView({ block: "nearest" });
  }, [missing]);

  function agree(given: boolean): void {
    setAgreed(given);
    setMissing(false);
  }
  function close(): void {
    agree(false);
    setOutdated(false);
    onClose();
  }
  async function place(): Promise<void> {
    if (!wanted || !preview || processing) return;
    if (!agreed) {
      setMissing(true);
      box.current?.querySelector("input")?.focus();
      return;
    }
    onProcessing(wanted.priceId);
    try {
      if (await order(wanted, preview)) {
        onProcessing(null);
        close();
      }
    } catch (error) {
      onProcessing(null);
      if (!(error instanceof ApiProblem && error.code === "preview_outdated")) return sayFailed(error, wanted);
      agree(false);
      setOutdated(true);
      look();
    }
  }
  return { looked, look, preview, agreed, missing, outdated, box, agree, close, place };
}

/** The last step before the payment page: what is ordered, at what price, and the person's consent (decision 57). */
export function OrderDialog(props: OrderDialogProps) {
  const { t } = useTranslation(["order", "change", "common", "refusals"]);
  const { looked, look, preview, agreed, missing, outdated, box, agree, close, place } = useOrdering(props);
  const noteId = useId();
  const actions = (
    <>
      <Button onClick={close}>{t("change:dialog.keep")}</Button>
      {preview && (
        <Button variant="primary" busy={props.processing} busyLabel={t("order:confirming")} onClick={() => void place()}>
          {t("order:confirm")}
        </Button>
      )}
    </>
  );
  const retry = (
    <Button size="small" onClick={look}>
      {t("common:retry")}
    </Button>
  );
  // Asking again would be refused again before the plan on hold is paid or ended.
  const account = (
    <LinkButton size="small" href={paths.profile}>
      {t("change:suspended.toAccount")}
    </LinkButton>
  );
  return (
    <Dialog open={props.wanted !== null} onClose={close} title={t("order:title")} actions={actions}>
      <div className={styles.order}>
        {outdated && <Alert tone="warning">{t("refusals:preview_outdated")}</Alert>}
        {looked && "preview" in looked && <OrderView preview={looked.preview} days={looked.days} />}
        {preview && (
          <div ref={box}>
            <OrderConsent agreed={agreed} missing={missing} noteId={noteId} onChange={agree} />
          </div>
        )}
        {looked && "refused" in looked && (
          <Alert tone="warning" title={t("order:failed")} action={looked.refused === "plan_suspended" ? account : retry}>
            {problemText(looked.refused)}
          </Alert>
        )}
        {!looked && <Spinner label={t("order:loading")} />}
      </div>
    </Dialog>
  );
}
