// Runs before the first paint, so that a stored theme or language never flashes. Kept tiny: it blocks the page.
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

  const spoken = ["en", "es", "fr", "de", "zh", "ja", "pt", "pl", "ro", "it", "ru"];
  const wished = [new URLSearchParams(location.search).get("lang"), read("language"), ...navigator.languages];
  const found = wished.map((tag) => tag?.toLowerCase().split(/[-_]/)[0]).find((code) => spoken.includes(code));
  if (found) root.lang = found;
})();
