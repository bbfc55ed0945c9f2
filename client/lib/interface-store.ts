import { create } from "zustand";

export type Theme = "system" | "light" | "dark";

export interface Toast {
  id: number;
  tone: "neutral" | "good" | "danger";
  title: string;
  text?: string;
  /** A toast with an action stays until it is answered or closed. */
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
    // Storage may be closed (private windows): the choice then lasts as long as the page.
  }
}

/** What the interface itself remembers: theme, menu, toasts. */
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

// Not the initial state: a prerendered page is hydrated with that, then drawn with what this device keeps.
useInterface.setState({ theme: storedTheme() });

let lastToastId = 0;

/** For what happened elsewhere only; an error at a form stands at the form. */
export function showToast(toast: Omit<Toast, "id" | "tone"> & { tone?: Toast["tone"] }): void {
  lastToastId += 1;
  const added: Toast = { tone: "neutral", ...toast, id: lastToastId };
  // Three at a time: a pile of messages is read by nobody.
  useInterface.setState((state) => ({ toasts: [...state.toasts, added].slice(-3) }));
}
