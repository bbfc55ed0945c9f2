import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { LinkButton } from "#client/components/button.tsx";
import { classNames } from "#client/components/class-names.ts";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { paths } from "#client/paths.ts";
import type { User } from "#contract/auth/sign-in.ts";
import styles from "./account-link.module.css";

/** Signed out, a link to sign in. Signed in, the person's picture or the first two letters of the email (spec §2). */
export function AccountLink({ sessionStatus, user }: { sessionStatus: "loading" | "signed_out" | "signed_in"; user: User | null }) {
  const { t } = useTranslation("common");
  if (!user) {
    return (
      <>
        {/* Until the session has been read, boot.js's mark decides what is visible, so that the button doesn't flash. */}
        {sessionStatus === "loading" && <span className={styles.place} />}
        <LinkButton href={paths.auth} size="small" className={classNames(styles.signIn, sessionStatus === "loading" && styles.unsure)}>
          {t("navigation.signIn")}
        </LinkButton>
      </>
    );
  }
  const avatar = user.user_metadata.avatar_url;
  return (
    <Link href={paths.profile} className={styles.account} title={user.user_metadata.name ?? user.email}>
      {avatar ? (
        <img className={styles.face} src={avatar} alt="" width="36" height="36" referrerPolicy="no-referrer" />
      ) : (
        <span className={styles.face} aria-hidden="true">
          {[...user.email].slice(0, 2).join("").toUpperCase()}
        </span>
      )}
      <VisuallyHidden>{t("navigation.account", { email: user.email })}</VisuallyHidden>
    </Link>
  );
}
