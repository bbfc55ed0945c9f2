import { MonitorDown } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { install, startInstall, useInstall } from "./install-store.ts";
import { IosSheet } from "./ios-sheet.tsx";

/** Installs the product on the home screen. Renders nothing if it is installed or can't be. */
export function InstallButton() {
  const { t, ready } = useTranslation("install", { useSuspense: false });
  const { way, iosBrowser } = useInstall();
  const [open, setOpen] = useState(false);
  useEffect(startInstall, []);

  if (!ready || way === "none") return null;
  return (
    <>
      <Button size="small" onClick={() => (way === "ios" ? setOpen(true) : void install())}>
        <MonitorDown size={16} aria-hidden="true" />
        {t("action")}
      </Button>
      {way === "ios" && <IosSheet open={open} onClose={() => setOpen(false)} browser={iosBrowser} />}
    </>
  );
}
