import i18next from "i18next";
import { MessageCircleQuestion, X } from "lucide-react";
import type { ComponentType } from "react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Spinner } from "#client/components/spinner.tsx";
import styles from "./support-button.module.css";
import type { SupportPanelProps } from "./support-panel.tsx";

type Panel = ComponentType<SupportPanelProps>;

const panelId = "support-panel";

/** Loads the panel and its texts. Rejects if either can't be fetched. */
async function fetchPanel(): Promise<Panel> {
  const [{ SupportPanel }] = await Promise.all([
    import("./support-panel.tsx"),
    i18next.loadNamespaces(["support", "pricing", "plans", "trial"]),
  ]);
  // i18next does not reject if a fetch fails.
  if (!["support:title", "pricing:title", "plans:plan.subscribe"].every((key) => i18next.exists(key)))
    throw new Error("The texts of the support panel are missing.");
  return SupportPanel;
}

/** Spec §2, "Support chat widget": the button at the bottom right. Its panel is fetched when it is first opened. */
export function SupportButton() {
  const { t } = useTranslation("common");
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const [Panel, setPanel] = useState<Panel | null>(null);
  const [failed, setFailed] = useState(false);

  useEffect(() => {
    if (!open || Panel) return;
    let current = true;
    setFailed(false);
    fetchPanel().then(
      (panel) => current && setPanel(() => panel),
      () => current && setFailed(true),
    );
    return () => {
      current = false;
    };
  }, [open, Panel]);

  function close() {
    setOpen(false);
    button.current?.focus();
  }

  return (
    <aside className={styles.place} aria-label={t("support.open")}>
      {open && Panel && <Panel id={panelId} onClose={close} />}
      {open && failed && (
        <p className={styles.failure} role="alert">
          {t("support.failure")}
        </p>
      )}
      <button
        ref={button}
        type="button"
        className={styles.button}
        aria-expanded={open}
        aria-controls={open && Panel ? panelId : undefined}
        onClick={() => (open ? close() : setOpen(true))}
      >
        {open && !Panel && !failed ? <Spinner size="small" /> : open ? <X size={20} aria-hidden="true" /> : <Sign />}
        <span className={styles.word}>{t("support.open")}</span>
      </button>
    </aside>
  );
}

function Sign() {
  return <MessageCircleQuestion size={20} aria-hidden="true" />;
}
