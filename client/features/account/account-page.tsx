import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { LinkButton } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Page } from "#client/components/page.tsx";
import { PageSpinner } from "#client/components/spinner.tsx";
import { useSession } from "#client/lib/use-session.ts";
import { paths } from "#client/paths.ts";
import type { User } from "#contract/auth/sign-in.ts";
import styles from "./account-page.module.css";
import type { AccountSection } from "./account-sections.tsx";
import { AccountSections } from "./account-sections.tsx";
import { SignOut } from "./sign-out.tsx";
import { SupportRequest } from "./support-request.tsx";

/** The title of a section after the overview, which has a head of its own. */
export function SectionHead({ title }: { title: string }) {
  return (
    <header className={styles.head}>
      <h1>{title}</h1>
      <SignOut />
    </header>
  );
}

interface AccountPageProps {
  section: AccountSection;
  title: string;
  /** Where the person comes back to after signing in. */
  returnTo: string;
  children: (user: User) => ReactNode;
}

/** One section of the account. Signed-out people are sent to sign in, and come back. */
export function AccountPage({ section, title, returnTo, children }: AccountPageProps) {
  const { t } = useTranslation("account");
  const { status, user } = useSession();
  if (status === "loading") return <PageSpinner />;
  if (!user) {
    const signIn = (
      <LinkButton href={`${paths.auth}?return=${encodeURIComponent(returnTo)}`} variant="primary">
        {t("signIn")}
      </LinkButton>
    );
    return (
      <Page title={title} width="narrow" className={styles.page ?? ""}>
        <h1>{title}</h1>
        <EmptyState title={t("signedOutTitle")} action={signIn}>
          {t("signedOutText")}
        </EmptyState>
      </Page>
    );
  }
  return (
    <Page title={title} className={styles.page ?? ""}>
      <AccountSections current={section} />
      {section !== "data" && <SupportRequest key={user.id} />}
      {children(user)}
    </Page>
  );
}
