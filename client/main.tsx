import "./components/tokens.css";
import "./components/fonts.css";
import "./components/base.css";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { startSubscription } from "./features/billing/subscription-store.ts";
import { setUpTexts } from "./i18n/set-up.ts";
import { startRealtime } from "./lib/realtime.ts";
import { startSession } from "./lib/session-refresh.ts";
import { prepareFirstPage } from "./routes.tsx";
import { registerInBackground } from "./sw/register.ts";

async function start(): Promise<void> {
  const root = document.getElementById("root");
  if (!root) throw new Error("The page has no #root to draw into.");
  startSession();
  startRealtime();
  startSubscription();
  await setUpTexts(prepareFirstPage(location.pathname));
  createRoot(root).render(<App />);
  registerInBackground();
}

void start();
