import i18next from "i18next";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Late } from "#client/components/late.tsx";
import { Panel } from "#client/components/panel.tsx";
import { api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { plans } from "#domain/plans.ts";
import type { Wanted } from "./order-dialog.tsx";
import { useBillingRead } from "./use-billing-read.ts";

/** Does what `useCheckout` does. If we used that hook, the build would split it off the public pages into one more file. */
async function loadDialog() {
  const { OrderDialog, orderTexts } = await import("./order-dialog.tsx");
  await i18next.loadNamespaces(orderTexts);
  return OrderDialog;
}

const readOffer = () => api("GET /api/billing/transfer-offer");

/** What the team offers the person to be paid by bank transfer; nothing without an offer. */
export function TransferOfferPanel() {
  const { t } = useTranslation(["order", "errors", "refusals"]);
  const { date } = useFormat();
  // Undefined until it is wanted for the first time. Then the dialog stays, so that it can give the focus back when it closes.
  const [wanted, setWanted] = useState<Wanted | null>();
  const [processing, setProcessing] = useState<string | null>(null);
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
            <Button variant="primary" onClick={() => setWanted({ priceId: `${subject.plan}_${subject.interval}`, kind: "transfer" })}>
              {t("order:offer.open")}
            </Button>
          </p>
        </Panel>
      )}
      {wanted !== undefined && (
        <Late
          load={loadDialog}
          wanted={wanted}
          onClose={() => setWanted(null)}
          processing={processing !== null}
          onProcessing={setProcessing}
        />
      )}
    </>
  );
}
