import { create } from "zustand";
import { api } from "#client/lib/api.ts";

interface EnvironmentState {
  /** Address of the sandbox's control page; null outside the sandbox and while unknown. */
  sandboxUrl: string | null;
  load: () => Promise<void>;
}

/** Where the product runs. Asked once; without an answer nothing is claimed. */
export const useEnvironment = create<EnvironmentState>()((set) => ({
  sandboxUrl: null,
  load: async () => {
    try {
      const { sandboxUrl } = await api("GET /api/environment");
      set({ sandboxUrl });
    } catch {
      // The badge is information, not a need: the page stands without it.
    }
  },
}));
