import { useTranslation } from "react-i18next";

/** Where evidence is given: Stripe alone takes it. Nothing where there is no dashboard. */
export function Dashboard({ url }: { url: string | null }) {
  const { t } = useTranslation("admin");
  return <Outside url={url} label={t("needs.dashboard")} />;
}

/** The same thing in Stripe's dashboard. Nothing where there is none. */
export function AtStripe({ url }: { url: string | null }) {
  const { t } = useTranslation("admin");
  return <Outside url={url} label={t("needs.atStripe")} />;
}

function Outside({ url, label }: { url: string | null; label: string }) {
  return url === null ? null : (
    <a href={url} target="_blank" rel="noreferrer">
      {label}
    </a>
  );
}
