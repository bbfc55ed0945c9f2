import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { useCopy } from "#client/lib/use-copy.ts";

/** A button that copies a text and says for a moment whether it worked. */
export function CopyText({ label, text }: { label: string; text: string }) {
  const { t } = useTranslation("account");
  const { state, copy } = useCopy();
  return (
    <Button onClick={() => copy(text)}>
      <span aria-live="polite">{state === "idle" ? label : t(state === "copied" ? "twoStep.copied" : "twoStep.copyFailed")}</span>
    </Button>
  );
}
