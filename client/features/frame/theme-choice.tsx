import { useTranslation } from "react-i18next";
import { Segmented } from "#client/components/segmented.tsx";
import { useInterface } from "#client/lib/interface-store.ts";
import { themes } from "./theme-switch.tsx";

/** A choice between the three themes, with their names visible. */
export function ThemeChoice() {
  const { t } = useTranslation("common");
  const { theme, setTheme } = useInterface();
  const options = themes.map((value) => ({ value, label: t(`theme.${value}`) }));
  return <Segmented label={t("theme.label")} options={options} value={theme} onChange={setTheme} />;
}
