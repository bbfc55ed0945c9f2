import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";

/** Shown to a person who comes back from the payment page without having paid. */
export function CheckoutCancelled() {
  const { t, ready } = useTranslation("billing", { useSuspense: false });
  return ready && <Alert title={t("return.cancelledTitle")}>{t("return.cancelledText")}</Alert>;
}
