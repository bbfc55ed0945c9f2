import { MonitorDown } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Late } from "#client/components/late.tsx";
import { install, startInstall, useInstall } from "./install-store.ts";

const loadSheet = async () => (await import("./ios-sheet.tsx")).IosSheet;

function Offer() {
  const { t, ready } = useTranslation("install", { useSuspense: false });
  const { way, iosBrowser } = useInstall();
  const [open, setOpen] = useState(false);
  if (!ready) return null;
  return (
    <>
      <Button size="small" onClick={() => (way === "ios" ? setOpen(true) : void install())}>
        <MonitorDown size={16} aria-hidden="true" />
        {t("action")}
      </Button>
      {way === "ios" && <Late load={loadSheet} open={open} onClose={() => setOpen(false)} browser={iosBrowser} />}
    </>
  );
}

/** Installs the product on the home screen. Renders nothing if it is installed or can't be. */
export function InstallButton() {
  const possible = useInstall(({ way }) => way !== "none");
  useEffect(startInstall, []);
  // The texts are fetched only where they are shown.
  return possible && <Offer />;
}
