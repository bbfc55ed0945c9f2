import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { waitText } from "#client/i18n/problem-text.ts";
import { useWait } from "#client/lib/use-wait.ts";
import { Button } from "./button.tsx";
import { useRefusal } from "./use-refusal.tsx";

/** A mail takes a moment to arrive, and asking again at once would only send the same link twice. */
const coolDownSeconds = 30;

interface Resending {
  /** Why it was refused. */
  note: ReactNode;
  state: "idle" | "sending" | "sent";
  waitSeconds: number;
  resend: () => Promise<void>;
}

/** Having a mail sent again, with a pause after each. `justSent`: it begins with the pause. */
export function useResend(send: () => Promise<unknown>, { justSent }: { justSent: boolean }): Resending {
  const coolDown = useWait(justSent ? coolDownSeconds : 0);
  const { note, waitSeconds: refusedSeconds, refuse, clear } = useRefusal();
  const [state, setState] = useState<Resending["state"]>("idle");
  const waitSeconds = Math.max(coolDown.seconds, refusedSeconds);

  async function resend(): Promise<void> {
    if (state === "sending" || waitSeconds > 0) return;
    setState("sending");
    clear();
    try {
      await send();
      setState("sent");
      coolDown.start(coolDownSeconds);
    } catch (error) {
      setState("idle");
      refuse(error);
    }
  }

  return { note, state, waitSeconds, resend };
}

interface ResendButtonProps {
  resending: Resending;
  size?: "small";
  wide?: boolean;
}

export function ResendButton({ resending, ...look }: ResendButtonProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const { state, waitSeconds, resend } = resending;
  return (
    <Button
      {...look}
      aria-disabled={waitSeconds > 0}
      busy={state === "sending"}
      busyLabel={t("steps:checkEmail.resending")}
      onClick={() => void resend()}
    >
      {waitSeconds > 0 ? t("steps:checkEmail.wait", { time: waitText(waitSeconds) }) : t("steps:checkEmail.resend")}
    </Button>
  );
}
