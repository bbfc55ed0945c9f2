import { ChevronDown } from "lucide-react";
import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { picturesPath } from "#client/lib/pictures-path.ts";
import { securityPath } from "#client/lib/security-path.ts";
import { usagePath } from "#client/lib/usage-path.ts";
import { paths } from "#client/paths.ts";
import styles from "./account-sections.module.css";

export const sectionPaths = {
  overview: paths.profile,
  billing: `${paths.profile}/billing`,
  usage: usagePath,
  pictures: picturesPath,
  security: securityPath,
  notifications: `${paths.profile}/notifications`,
  data: `${paths.profile}/data`,
} as const;

export type AccountSection = keyof typeof sectionPaths;
const sections = Object.keys(sectionPaths) as AccountSection[];

/** The account's sections: a row of links, or in a narrow window a list that a button opens. */
export function AccountSections({ current }: { current: AccountSection }) {
  const { t } = useTranslation("account");
  const [open, setOpen] = useState(false);
  const listId = useId();
  return (
    <nav aria-label={t("sections.label")} className={styles.sections}>
      <button type="button" className={styles.opener} aria-expanded={open} aria-controls={listId} onClick={() => setOpen(!open)}>
        {t("sections.label")}
        <ChevronDown size={18} aria-hidden="true" />
      </button>
      <ul id={listId} className={styles.list} data-open={open || undefined}>
        {sections.map((name) => (
          <li key={name}>
            <Link
              href={sectionPaths[name]}
              className={styles.section}
              aria-current={name === current ? "page" : undefined}
              onClick={() => setOpen(false)}
            >
              {t(`sections.${name}`)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
