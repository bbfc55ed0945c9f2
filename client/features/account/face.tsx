import type { User } from "#contract/auth/sign-in.ts";
import { largeAvatar } from "#domain/avatars.ts";
import styles from "./person.module.css";

/** A person's picture, or the first two letters of the email (spec §2). */
export function Face({ user }: { user: User }) {
  const { avatar_url } = user.user_metadata;
  if (avatar_url)
    return <img className={styles.face} src={largeAvatar(avatar_url)} alt="" width="80" height="80" referrerPolicy="no-referrer" />;
  return (
    <span className={styles.face} aria-hidden="true">
      {[...user.email].slice(0, 2).join("").toUpperCase()}
    </span>
  );
}
