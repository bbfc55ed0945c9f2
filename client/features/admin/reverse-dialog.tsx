import { useTranslation } from "react-i18next";
import { api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { ActDialog } from "./act-dialog.tsx";

interface ReverseDialogProps {
  /** The bank's. */
  reference: string;
  amountCents: number;
  onClose: () => void;
  onDone: () => void;
  look: () => void;
}

/** Records that the bank took a transfer back. */
export function ReverseDialog({ reference, amountCents, ...closing }: ReverseDialogProps) {
  const { t } = useTranslation("admin");
  const { money } = useFormat();
  return (
    <ActDialog
      title={t("person.reverse.title")}
      action={t("person.reverse.action")}
      danger
      {...closing}
      act={(reason) => api("POST /api/admin/transfers/reverse", { body: { reference, reason } })}
    >
      <p>{t("person.reverse.text", { amount: money(amountCents), reference })}</p>
    </ActDialog>
  );
}
