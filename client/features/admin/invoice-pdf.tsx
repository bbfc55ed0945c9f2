import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { useAct } from "#client/components/use-act.ts";
import { api } from "#client/lib/api.ts";

/** Opens the invoice's PDF at Stripe. Its links expire, so each is asked for. */
export function InvoicePdf({ userId, invoiceId }: { userId: string; invoiceId: string }) {
  const { t } = useTranslation(["admin", "errors"]);
  const { note, busy, run } = useAct<"open">();
  const open = async () => {
    const { url } = await api("POST /api/admin/people/:userId/invoices/:invoiceId/link", { params: { userId, invoiceId } });
    window.location.assign(url);
  };
  return (
    <>
      <Button
        size="small"
        variant="quiet"
        busy={busy !== undefined}
        busyLabel={t("admin:person.pdf")}
        onClick={() => void run("open", open)}
      >
        {t("admin:person.pdf")}
      </Button>
      {note}
    </>
  );
}
