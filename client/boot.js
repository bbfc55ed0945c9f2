// Runs before the first paint, so that a stored theme never flashes and nobody signed in sees the way to sign in. Kept tiny: it blocks the page.
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

  try {
    if (sessionStorage.getItem("trialHidden")) root.dataset.trialHidden = "";
  } catch {
    // Closed storage: the offer shows.
  }

  // What is drawn can be read before it lives, so its scripts, named in a tag by the build, wait for the first frame. A page
  // that nobody sees draws none.
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

  // The browser offers to install once, often before main.tsx listens: install-prompt.ts takes the offer from here.
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    window.installOffer = event;
  });

  // The signed-out links of a prerendered page stay hidden until the session has been read.
  if (read("session")) root.dataset.session = "";

  // What is drawn can be tapped before it lives: the last button is remembered for main.tsx, and no form goes to the server with
  // what was typed in its address.
  const remember = (element) => {
    for (const earlier of document.querySelectorAll("[data-tapped]")) delete earlier.dataset.tapped;
    const button = element?.closest?.("button");
    if (button) button.dataset.tapped = "";
  };
  addEventListener("click", ({ target }) => "live" in root.dataset || remember(target), true);
  addEventListener(
    "submit",
    (event) => {
      if ("live" in root.dataset) return;
      event.preventDefault();
      remember(event.submitter);
    },
    true,
  );
})();
