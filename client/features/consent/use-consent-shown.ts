import { useEffect } from "react";
import { readConsent, useConsent } from "./consent-store.ts";

/** Spec §4: hidden while the session is unknown or somebody is signed in; shown if no choice is stored. */
export function useConsentShown(sessionStatus: "loading" | "signed_out" | "signed_in"): boolean {
  const { stored, reopened } = useConsent();
  const signedOut = sessionStatus === "signed_out";
  useEffect(() => {
    if (!signedOut && !reopened) return;
    void readConsent();
    const look = () => {
      if (document.visibilityState === "visible") void readConsent();
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [signedOut, reopened]);
  return stored !== "unknown" && (reopened || (signedOut && stored === "none"));
}
