import type { User } from "#contract/auth.ts";
import { classNames } from "./class-names.ts";
import styles from "./face.module.css";

interface FaceProps {
  user: User;
  /** The picture's address, if it isn't the small one of the session. */
  picture?: string | undefined;
  className?: string | undefined;
}

/** A person's picture, or the first two letters of the email (spec §2). */
export function Face({ user, picture = user.user_metadata.avatar_url ?? undefined, className }: FaceProps) {
  const look = classNames(styles.face, className);
  if (picture) return <img className={look} src={picture} alt="" width="36" height="36" referrerPolicy="no-referrer" />;
  return (
    <span className={look} aria-hidden="true">
      {[...user.email].slice(0, 2).join("").toUpperCase()}
    </span>
  );
}
