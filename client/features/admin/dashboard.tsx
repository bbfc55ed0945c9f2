import { useTranslation } from "react-i18next";

/** Where evidence is given: Stripe alone takes it. Nothing where there is no dashboard. */
export function Dashboard({ url }: { url: string | null }) {
  const { t } = useTranslation("admin");
  return url === null ? null : (
    <a href={url} target="_blank" rel="noreferrer">
      {t("needs.dashboard")}
    </a>
  );
}
