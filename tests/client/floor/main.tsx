/** A hello world with every library that the first page needs: page weights are relative to its size (tests/bench/client/floor.ts). */
import i18next from "i18next";
import { get, set } from "idb-keyval";
import { createRoot } from "react-dom/client";
import { initReactI18next, useTranslation } from "react-i18next";
import { Workbox } from "workbox-window";
import { Link, Route, Switch } from "wouter";
import { create } from "zustand";

const useVisits = create<{ visits: number }>(() => ({ visits: 0 }));

function Hello() {
  const { t } = useTranslation("common");
  const visits = useVisits((state) => state.visits);
  return (
    <Link href="/">
      {t("close")} {visits}
    </Link>
  );
}

async function start(): Promise<void> {
  const root = document.getElementById("root");
  if (!root) throw new Error("The page has no #root to render into.");
  await i18next.use(initReactI18next).init({ lng: "en", resources: { en: { common: { close: "Close" } } }, defaultNS: "common" });
  const visits = ((await get<number>("visits")) ?? 0) + 1;
  await set("visits", visits);
  useVisits.setState({ visits });
  createRoot(root).render(
    <Switch>
      <Route path="/" component={Hello} />
    </Switch>,
  );
  await new Workbox("/service-worker.js").register();
}

void start();
