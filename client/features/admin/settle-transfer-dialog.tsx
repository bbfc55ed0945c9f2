import { useState } from "react";
import { useTranslation } from "react-i18next";
import { TextField } from "#client/components/field.tsx";
import { api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { WaitingTransfer } from "#contract/admin/needs.ts";
import { ActDialog } from "./act-dialog.tsx";

interface SettleTransferDialogProps {
  transfer: WaitingTransfer;
  onClose: () => void;
  onDone: () => void;
  look: () => void;
}

const longestReference = 140;

/** Records that money was transferred back or, of money that went out twice, that the second sum came or is given up. */
export function SettleTransferDialog({ transfer, ...closing }: SettleTransferDialogProps) {
  const { t } = useTranslation("admin");
  const { money } = useFormat();
  const [typed, setTyped] = useState("");
  const { side, invoiceId, amountCents, currency } = transfer;
  const amount = money(amountCents);
  const reference = typed.trim();
  const givesUp = side === "claim" && reference === "";
  const act = (reason: string) => {
    const record = { invoiceId, amountCents, currency, reason };
    if (side === "return") return api("POST /api/admin/transfers/returned", { body: { ...record, reference } });
    return api("POST /api/admin/transfers/reclaimed", { body: { ...record, ...(givesUp ? {} : { reference }) } });
  };
  return (
    <ActDialog
      title={t(`needs.transfer.${side}Act`)}
      action={t(givesUp ? "needs.transfer.giveUpAct" : `needs.transfer.${side}Act`)}
      danger={givesUp}
      ready={side === "claim" || reference !== ""}
      {...closing}
      act={act}
    >
      <p>{t(`needs.transfer.${side}Text`, { amount })}</p>
      <TextField
        label={t("needs.transfer.reference")}
        hint={side === "claim" ? t("needs.transfer.giveUp") : undefined}
        autoComplete="off"
        required={side === "return"}
        maxLength={longestReference}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </ActDialog>
  );
}
