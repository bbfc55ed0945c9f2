import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { LinkButton } from "#client/components/button.tsx";
import { sectionPaths } from "./account-sections.tsx";

/** The team asks to read the person's conversations, and they have not answered. */
export function SupportNotice() {
  const { t } = useTranslation("access");
  const decide = (
    <LinkButton href={`${sectionPaths.data}#support`} size="small">
      {t("decide")}
    </LinkButton>
  );
  return <Alert action={decide}>{t("asked")}</Alert>;
}
