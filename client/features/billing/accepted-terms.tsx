import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { RichText } from "#client/components/rich-text.tsx";
import { paths } from "#client/paths.ts";

/** Opens another page, so that the order stays. */
function TermsLink({ children }: { children?: ReactNode }) {
  return (
    <a href={paths.terms} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

/** Says that who orders accepts the terms. */
export function AcceptedTerms() {
  const { t } = useTranslation("order");
  return (
    <p>
      <RichText text={t("accepts")} elements={{ terms: <TermsLink /> }} />
    </p>
  );
}
