import { create } from "zustand";
import { api } from "#client/lib/api.ts";

interface EnvironmentState {
  /** Address of the sandbox's control page; null outside the sandbox and while unknown. */
  sandboxUrl: string | null;
  /** Whether the question has been answered, or can't be. */
  asked: boolean;
  load: () => Promise<void>;
}

/** Where the product runs. Asked once; without an answer nothing is claimed. */
export const useEnvironment = create<EnvironmentState>()((set) => ({
  sandboxUrl: null,
  asked: false,
  load: async () => {
    try {
      const { sandboxUrl } = await api("GET /api/environment");
      set({ sandboxUrl, asked: true });
    } catch {
      // The badge is information, not a need: the page stands without it.
      set({ asked: true });
    }
  },
}));
