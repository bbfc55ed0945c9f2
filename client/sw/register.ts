import { watchTyping } from "#client/lib/busy.ts";
import { watchInstallPrompt } from "#client/lib/install-prompt.ts";
import { untilLate } from "#client/lib/until-idle.ts";
import { registrationFailed } from "#client/lib/worker-registration.ts";

/** Fetches the bridge after the page has loaded, so that the service worker delays neither the first paint nor a slow phone's reader. */
export function registerInBackground(): void {
  watchTyping();
  watchInstallPrompt();
  if (!import.meta.env.PROD) return;
  const register = () =>
    untilLate()
      .then(() => import("./bridge.ts"))
      .then(({ registerServiceWorker }) => registerServiceWorker())
      // Without a service worker the product works online only. The next visit tries again.
      .catch((error: unknown) => {
        console.warn("The service worker could not be registered.", error);
        registrationFailed(error);
      });
  if (document.readyState === "complete") setTimeout(register, 1_000);
  else addEventListener("load", () => setTimeout(register, 1_000), { once: true });
}
