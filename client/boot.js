// Runs before the first paint, so that a stored theme doesn't flash and signed-in people don't see the sign-in links. Keep it tiny: it
// blocks the page.
(() => {
  const root = document.documentElement;
  const read = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };
  const theme = read("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.querySelector('meta[name="theme-color"]')?.setAttribute("content", dark ? "#1c1815" : "#f9f6f0");

  // As client/lib/passkeys.ts.
  if (globalThis.PublicKeyCredential && /[a-z]$/.test(location.hostname)) root.dataset.passkeys = "";

  try {
    if (sessionStorage.getItem("trialHidden")) root.dataset.trialHidden = "";
  } catch {
    // If storage is blocked, the banner is shown.
  }

  // A prerendered page can be read before its scripts run, so they wait for the first frame. The build lists them in a meta tag. A page in
  // a hidden tab draws no frame, so there they start at once.
  const start = () => {
    const [entry, ...others] = document.querySelector('meta[name="scripts"]')?.content.split(" ") ?? [];
    if (!entry) return;
    for (const href of [entry, ...others]) {
      document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", crossOrigin: "", href }));
    }
    const live = () => import(entry);
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", live, { once: true });
    else live();
  };
  if (document.hidden) start();
  else requestAnimationFrame(() => setTimeout(start));

  // The browser fires its install prompt once, often before main.tsx listens; install-prompt.ts takes the event from here.
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    window.installOffer = event;
  });

  // Hides the signed-out links of a prerendered page until the session has been read.
  if (read("session")) root.dataset.session = "";

  // A button or a choice can be tapped before hydration. The last one is remembered for main.tsx, which repeats it, so React doesn't hear
  // of it now. Forms are not submitted natively, which would put their content into the address.
  const isLive = (element) => "live" in root.dataset && !element?.closest?.("[data-asleep], [data-awake]")?.matches("[data-asleep]");
  const remember = (event, element) => {
    for (const earlier of document.querySelectorAll("[data-tapped]")) delete earlier.dataset.tapped;
    const control = element?.closest?.("button, input[type=radio]");
    if (!control) return;
    control.dataset.tapped = "";
    event.stopPropagation();
  };
  addEventListener("click", (event) => isLive(event.target) || remember(event, event.target), true);
  addEventListener(
    "submit",
    (event) => {
      if (isLive(event.target)) return;
      event.preventDefault();
      remember(event, event.submitter);
    },
    true,
  );
})();
