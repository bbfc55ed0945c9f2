import { useTranslation } from "react-i18next";

/** Links to the page of Stripe's dashboard where evidence is submitted; we can't submit it. Nothing without a dashboard (`url` null). */
export function Dashboard({ url }: { url: string | null }) {
  const { t } = useTranslation("admin");
  return <Outside url={url} label={t("needs.dashboard")} />;
}

/** Links to the same thing in Stripe's dashboard. Nothing without a dashboard. */
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
