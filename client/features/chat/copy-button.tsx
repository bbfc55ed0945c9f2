import { Check, Copy, X } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#client/components/button.tsx";

const shownMs = 2_000;
const icons = { idle: Copy, copied: Check, failed: X };

/** Copies the text and confirms it in the button. */
export function CopyButton({ label, text }: { label: string; text: string }) {
  const { t } = useTranslation("chat");
  const [state, setState] = useState<keyof typeof icons>("idle");
  const Icon = icons[state];

  useEffect(() => {
    if (state === "idle") return;
    const timer = setTimeout(() => setState("idle"), shownMs);
    return () => clearTimeout(timer);
  }, [state]);

  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setState("copied"),
      () => setState("failed"),
    );
  };
  const said = state === "idle" ? label : t(state === "copied" ? "answer.copied" : "answer.copyFailed");
  return (
    <IconButton label={said} onClick={copy}>
      <Icon size={18} aria-hidden="true" />
    </IconButton>
  );
}
