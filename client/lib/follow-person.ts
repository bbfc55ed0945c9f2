import { api } from "./api.ts";
import { onNews } from "./realtime.ts";
import { refreshUser } from "./session-refresh.ts";
import { sessionStore } from "./session-store.ts";

/** Refreshes the session only if the account's address is another: a person's row changes often, and a refresh uses up a token. */
async function readAgain(): Promise<void> {
  const { email } = await api("GET /api/account");
  const shown = sessionStore.getState().user?.email;
  if (shown !== undefined && shown !== email) await refreshUser();
}

/** Shows a new address on every page that is open, also if it was confirmed on another device. Call once. */
export function followPerson(): void {
  // If this fails, the next refresh of the session brings the address.
  onNews(["users"], () => void readAgain().catch(() => undefined));
}
