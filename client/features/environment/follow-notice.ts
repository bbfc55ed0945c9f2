import { useEnvironment } from "./environment-store.ts";

/** How often a page that somebody looks at asks whether the team has something to say. */
const askEveryMs = 120_000;

/** For people who are signed in, whose pages stay open for long; others are told when they open a page. */
export function followNotice(): void {
  setInterval(() => {
    if (document.visibilityState === "visible") void useEnvironment.getState().load();
  }, askEveryMs);
}
