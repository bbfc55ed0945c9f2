import { create } from "zustand";
import { api } from "#client/lib/api.ts";

interface EnvironmentState {
  /** Address of the sandbox's control page; null outside the sandbox and while unknown. */
  sandboxUrl: string | null;
  /** True once the request has succeeded or failed. */
  asked: boolean;
  load: () => Promise<void>;
}

/** Whether the product runs in the sandbox. Asked once; if the request fails, no badge is shown. */
export const useEnvironment = create<EnvironmentState>()((set) => ({
  sandboxUrl: null,
  asked: false,
  load: async () => {
    try {
      const { sandboxUrl } = await api("GET /api/environment");
      set({ sandboxUrl, asked: true });
    } catch {
      // The badge is only information, so the page works without it.
      set({ asked: true });
    }
  },
}));
