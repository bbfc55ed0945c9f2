import type { ReactNode } from "react";
import { useState } from "react";
import { Late } from "#client/components/late.tsx";
import type { Sold } from "./plan-change-acts.ts";

const loadActs = () => import("./plan-change-acts.ts");

/** The dialog with its texts. Only subscribers need either. */
async function loadDialog() {
  const [{ default: i18next }, { changeTexts }, { PlanChangeDialog }] = await Promise.all([
    import("i18next"),
    loadActs(),
    import("./plan-change-dialog.tsx"),
  ]);
  await i18next.loadNamespaces(changeTexts);
  return PlanChangeDialog;
}

export interface PlanChange {
  /** Opens the dialog with the preview of the change. */
  change: (target: Sold) => void;
  /** Takes the planned change back. Never throws. */
  undo: () => Promise<void>;
  /** To be rendered on the page. */
  dialog: ReactNode;
}

export function usePlanChange(): PlanChange {
  // Undefined until it is asked for the first time. Then the dialog stays, so that it can give the focus back when it closes.
  const [target, setTarget] = useState<Sold | null>();
  return {
    change: setTarget,
    undo: async () => (await loadActs()).undoChange(),
    dialog: target !== undefined && <Late load={loadDialog} target={target} onClose={() => setTarget(null)} />,
  };
}
