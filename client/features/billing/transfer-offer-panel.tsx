import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Panel } from "#client/components/panel.tsx";
import { api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { plans } from "#domain/plans.ts";
import { useBillingRead } from "./use-billing-read.ts";
import { useCheckout } from "./use-checkout.tsx";

const readOffer = () => api("GET /api/billing/transfer-offer");

/** What the team offers the person to be paid by bank transfer; nothing without an offer. */
export function TransferOfferPanel() {
  const { t } = useTranslation(["order", "errors", "refusals"]);
  const { date } = useFormat();
  const { start, dialog } = useCheckout();
  const [read] = useBillingRead(readOffer);
  const offer = read?.offer;
  const subject = offer?.order.subject;
  return (
    <>
      {offer && subject?.kind === "plan" && (
        <Panel
          name="offer"
          title={t("order:offer.title")}
          lead={[t("order:offer.lead", { plan: plans[subject.plan].name, date: date(offer.expiresAt) })]}
        >
          <p>
            <Button variant="primary" onClick={() => void start(`${subject.plan}_${subject.interval}`, "transfer")}>
              {t("order:offer.open")}
            </Button>
          </p>
        </Panel>
      )}
      {dialog}
    </>
  );
}
