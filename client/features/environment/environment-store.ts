import { create } from "zustand";
import { api } from "#client/lib/api.ts";
import type { Environment } from "#contract/catalogue.ts";

interface EnvironmentState {
  /** Address of the sandbox's control page; null outside the sandbox and while unknown. */
  sandboxUrl: string | null;
  /** Whether one can sign in with Google; undefined while unknown. */
  google: boolean | undefined;
  /** The team's notice that every page shows above its content; null: none. */
  notice: Environment["notice"];
  /** True once the request has succeeded or failed. */
  asked: boolean;
  load: () => Promise<void>;
}

/** Whether the product runs in the sandbox, and what this installation has. If the request fails, no badge is shown. */
export const useEnvironment = create<EnvironmentState>()((set) => ({
  sandboxUrl: null,
  google: undefined,
  notice: null,
  asked: false,
  load: async () => {
    try {
      const { sandboxUrl, google, notice } = await api("GET /api/environment");
      set({ sandboxUrl, google, notice, asked: true });
    } catch {
      // The badge is only information, so the page works without it.
      set({ asked: true });
    }
  },
}));
