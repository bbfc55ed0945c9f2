import { create } from "zustand";
import { api } from "#client/lib/api.ts";

interface EnvironmentState {
  /** Address of the sandbox's control page; null outside the sandbox and while unknown. */
  sandboxUrl: string | null;
  /** Whether one can sign in with Google; undefined while unknown. */
  google: boolean | undefined;
  /** True once the request has succeeded or failed. */
  asked: boolean;
  load: () => Promise<void>;
}

/** Whether the product runs in the sandbox, and what this installation has. Asked once; if the request fails, no badge is shown. */
export const useEnvironment = create<EnvironmentState>()((set) => ({
  sandboxUrl: null,
  google: undefined,
  asked: false,
  load: async () => {
    try {
      const { sandboxUrl, google } = await api("GET /api/environment");
      set({ sandboxUrl, google, asked: true });
    } catch {
      // The badge is only information, so the page works without it.
      set({ asked: true });
    }
  },
}));
