import { useTranslation } from "react-i18next";
import { waitText } from "#client/i18n/problem-text.ts";
import { Button } from "./button.tsx";

interface SubmitButtonProps {
  label: string;
  busy: boolean;
  busyLabel: string;
  /** Seconds until another try is allowed. The form must not submit before; the button keeps the focus meanwhile. */
  waitSeconds: number;
}

export function SubmitButton({ label, busy, busyLabel, waitSeconds }: SubmitButtonProps) {
  const { t } = useTranslation("auth");
  return (
    <Button type="submit" variant="primary" wide busy={busy} busyLabel={busyLabel} aria-disabled={waitSeconds > 0}>
      {waitSeconds > 0 ? t("wait.in", { time: waitText(waitSeconds) }) : label}
    </Button>
  );
}
