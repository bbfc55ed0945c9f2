import { Monitor, Moon, Sun } from "lucide-react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#client/components/button.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import type { Theme } from "#client/lib/interface-store.ts";
import { useInterface } from "#client/lib/interface-store.ts";

const order = ["system", "light", "dark"] as const;
const icons = { system: Monitor, light: Sun, dark: Moon };

function following(theme: Theme): Theme {
  return order[(order.indexOf(theme) + 1) % order.length] ?? "system";
}

/** One button that goes round in the bar; with its three names in sight where there is room (`labelled`). */
export function ThemeSwitch({ labelled = false }: { labelled?: boolean }) {
  const { t } = useTranslation("common");
  const { theme, setTheme } = useInterface();
  if (labelled) {
    const options = order.map((value) => ({ value, label: t(`theme.${value}`) }));
    return <Segmented label={t("theme.label")} options={options} value={theme} onChange={setTheme} />;
  }
  const Icon = icons[theme];
  const next = following(theme);
  return (
    <IconButton label={t("theme.change", { theme: t(`theme.${theme}`), next: t(`theme.${next}`) })} onClick={() => setTheme(next)}>
      <Icon size={18} aria-hidden="true" />
    </IconButton>
  );
}
