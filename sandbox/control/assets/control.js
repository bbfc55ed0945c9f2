// Shows the running clock and the progress of a move, and updates the lists. The page works without this script.
const status = document.querySelector("[data-status]");
const day = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });
const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone: "UTC" });
const clock = document.querySelector("[data-now]");
let lead = new Date(clock.dateTime).getTime() - Date.now();
let moving = false;

function show(now) {
  clock.dateTime = now.toISOString();
  clock.querySelector("[data-day]").textContent = day.format(now);
  clock.querySelector("[data-time]").textContent = time.format(now);
}

async function readClock() {
  const answer = await fetch("/clock");
  lead = new Date((await answer.json()).now).getTime() - Date.now();
}

for (const form of document.querySelectorAll("form[data-busy]")) {
  form.addEventListener("submit", (event) => {
    if (moving) return event.preventDefault();
    moving = true;
    status.textContent = form.dataset.busy;
    for (const button of document.querySelectorAll("form[data-busy] button")) button.setAttribute("aria-disabled", "true");
  });
}

setInterval(() => {
  if (moving) readClock().catch(() => undefined);
  show(new Date(Date.now() + lead));
}, 1000);

async function refresh() {
  const answer = await fetch(location.pathname);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(part.id);
    const inUse = part.contains(document.activeElement) || part.querySelector("details[open]");
    if (next && !inUse && next.innerHTML !== part.innerHTML) part.replaceChildren(...next.childNodes);
  }
}

setInterval(() => {
  if (!document.hidden && !moving) refresh().catch(() => undefined);
}, 3000);

// The back button restores the page in its busy state.
addEventListener("pageshow", (event) => event.persisted && location.reload());
