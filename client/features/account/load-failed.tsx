import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";

/** Says what could not be read, with a button that tries again. */
export function LoadFailed({ onRetry, children }: { onRetry: () => void; children: ReactNode }) {
  const { t } = useTranslation("account");
  const retry = (
    <Button size="small" onClick={onRetry}>
      {t("retry")}
    </Button>
  );
  return (
    <Alert tone="warning" action={retry}>
      {children}
    </Alert>
  );
}
