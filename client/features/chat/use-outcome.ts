import i18next from "i18next";
import { lateModule } from "./late-module.ts";

/** With its texts, which no public page needs. */
export const useOutcome = lateModule(async () => {
  await i18next.loadNamespaces("outcomes");
  return import("./outcome.tsx");
});
