import { useTranslation } from "react-i18next";
import { SectionLinks } from "#client/components/section-links.tsx";
import { billingPath } from "#client/lib/billing-path.ts";
import { filesPath } from "#client/lib/files-path.ts";
import { picturesPath } from "#client/lib/pictures-path.ts";
import { securityPath } from "#client/lib/security-path.ts";
import { usagePath } from "#client/lib/usage-path.ts";
import { paths } from "#client/paths.ts";

export const sectionPaths = {
  overview: paths.profile,
  billing: billingPath,
  usage: usagePath,
  pictures: picturesPath,
  files: filesPath,
  security: securityPath,
  notifications: `${paths.profile}/notifications`,
  data: `${paths.profile}/data`,
} as const;

export type AccountSection = keyof typeof sectionPaths;
const sections = Object.keys(sectionPaths) as AccountSection[];

/** The account's sections. */
export function AccountSections({ current }: { current: AccountSection }) {
  const { t } = useTranslation("account");
  return (
    <SectionLinks
      as="row"
      label={t("sections.label")}
      opener={t("sections.label")}
      sections={sections.map((name) => ({ name, href: sectionPaths[name], label: t(`sections.${name}`) }))}
      current={current}
    />
  );
}
