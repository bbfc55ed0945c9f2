import { create } from "zustand";

export type Theme = "system" | "light" | "dark";

export interface Toast {
  id: number;
  tone: "neutral" | "good" | "danger";
  title: string;
  text?: string;
  /** A toast with an action stays until the action is used or the toast is closed. */
  action?: { label: string; run: () => void };
}

interface InterfaceState {
  theme: Theme;
  menuOpen: boolean;
  toasts: Toast[];
  setTheme: (theme: Theme) => void;
  setMenuOpen: (open: boolean) => void;
  dismissToast: (id: number) => void;
}

function storedTheme(): Theme {
  try {
    const theme = localStorage.getItem("theme");
    return theme === "light" || theme === "dark" ? theme : "system";
  } catch {
    return "system";
  }
}

function applyTheme(theme: Theme): void {
  const root = document.documentElement;
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  const paper = getComputedStyle(root).backgroundColor;
  document.querySelector('meta[name="theme-color"]')?.setAttribute("content", paper);
  try {
    if (theme === "system") localStorage.removeItem("theme");
    else localStorage.setItem("theme", theme);
  } catch {
    // If storage is blocked (private windows), the choice lasts until the page is closed.
  }
}

/** The state of the interface: theme, menu, toasts. */
export const useInterface = create<InterfaceState>()((set) => ({
  theme: "system",
  menuOpen: false,
  toasts: [],
  setTheme: (theme) => {
    applyTheme(theme);
    set({ theme });
  },
  setMenuOpen: (menuOpen) => set({ menuOpen }),
  dismissToast: (id) => set((state) => ({ toasts: state.toasts.filter((toast) => toast.id !== id) })),
}));

// Set after creation, not as the initial state: a prerendered page must be hydrated with the initial state first.
useInterface.setState({ theme: storedTheme() });

let lastToastId = 0;

/** Use it only for events elsewhere on the page; an error in a form is shown at the form. */
export function showToast(toast: Omit<Toast, "id" | "tone"> & { tone?: Toast["tone"] }): void {
  lastToastId += 1;
  const added: Toast = { tone: "neutral", ...toast, id: lastToastId };
  // Shows at most three toasts, because nobody reads more.
  useInterface.setState((state) => ({ toasts: [...state.toasts, added].slice(-3) }));
}
