import { useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import type { Refusal } from "#client/components/use-refusal.tsx";
import { untilIdle } from "#client/lib/until-idle.ts";
import styles from "./auth.module.css";

const calls = () => import("./passkey-calls.ts");

interface PasskeyWayProps {
  /** Another way is being tried: nothing is offered meanwhile. */
  paused: boolean;
  refusal: Refusal;
}

/**
 * Signing in with a passkey: by a button, or from the suggestions of the email field. Its place is hidden where the browser has no
 * passkeys (boot.js), before the first paint, so that nothing moves.
 */
export function PasskeyWay({ paused, refusal }: PasskeyWayProps) {
  const { t } = useTranslation("auth");
  const [busy, setBusy] = useState(false);
  const refuseOffered = useEffectEvent(refusal.refuse);

  useEffect(() => {
    if (paused || busy) return;
    const controller = new AbortController();
    // If the chunk can't be loaded, no passkey is offered. The button says why when it is pressed.
    untilIdle()
      .then(() => import("./passkey-offer.ts"))
      .then(({ offerPasskeys }) => offerPasskeys(controller.signal, refuseOffered))
      .catch(() => {});
    return () => controller.abort();
  }, [paused, busy]);

  async function show(): Promise<void> {
    if (paused || refusal.waitSeconds > 0) return;
    refusal.clear();
    setBusy(true);
    await calls().then(({ signInByPasskey }) => signInByPasskey(refusal.refuse), refusal.refuse);
    setBusy(false);
  }

  return (
    <div className={styles.passkey}>
      <Button wide busy={busy} aria-disabled={refusal.waitSeconds > 0} onClick={() => void show()}>
        {t("signIn.passkey")}
      </Button>
    </div>
  );
}
