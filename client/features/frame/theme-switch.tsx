import { Monitor, Moon, Sun } from "lucide-react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#client/components/button.tsx";
import type { Theme } from "#client/lib/interface-store.ts";
import { useInterface } from "#client/lib/interface-store.ts";

/** In the order in which the button switches. */
export const themes = ["system", "light", "dark"] as const;
const icons = { system: Monitor, light: Sun, dark: Moon };

function following(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
}

/** One button that switches to the next theme; where there is room, theme-choice.tsx shows all three. */
export function ThemeSwitch() {
  const { t } = useTranslation("common");
  const { theme, setTheme } = useInterface();
  const Icon = icons[theme];
  const next = following(theme);
  return (
    <IconButton label={t("theme.change", { theme: t(`theme.${theme}`), next: t(`theme.${next}`) })} onClick={() => setTheme(next)}>
      <Icon size={18} aria-hidden="true" />
    </IconButton>
  );
}
