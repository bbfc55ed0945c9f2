import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import styles from "./auth.module.css";

interface ReplaceSessionProps {
  /** Of whoever is signed in. */
  email: string;
  onStay: () => void;
  onUse: () => void;
}

/** A mailed link signs in, so it is not opened over somebody's session unless they say so: the link may be another's. */
export function ReplaceSession({ email, onStay, onUse }: ReplaceSessionProps) {
  const { t } = useTranslation("auth");
  return (
    <>
      <h1>{t("replace.title")}</h1>
      <p className={styles.lead}>{t("replace.text", { email })}</p>
      <div className={styles.form}>
        <Button variant="primary" wide onClick={onStay}>
          {t("replace.stay")}
        </Button>
        <Button wide onClick={onUse}>
          {t("replace.use")}
        </Button>
      </div>
    </>
  );
}
