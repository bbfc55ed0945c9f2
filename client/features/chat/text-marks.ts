import type { ReactNode } from "react";
import { createContext } from "react";

/** Draws a text with the numbers of its sources as links. Null where there are no sources, and within links. */
export const TextMarks = createContext<((text: string) => ReactNode) | null>(null);
