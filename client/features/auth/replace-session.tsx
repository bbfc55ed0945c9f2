import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import styles from "./auth.module.css";
import { Step } from "./step.tsx";

interface ReplaceSessionProps {
  /** The email of the signed-in person. */
  email: string;
  /** The email of the account that the link signs in. */
  other: string;
  onStay: () => void;
  onUse: () => void;
}

/** A mailed link signs in, so the person is asked first if somebody is already signed in: the link may be another person's. */
export function ReplaceSession({ email, other, onStay, onUse }: ReplaceSessionProps) {
  const { t } = useTranslation(["auth", "steps"]);
  return (
    <Step title={t("steps:replace.title")} lead={t("steps:replace.text", { email, other })}>
      <div className={styles.ways}>
        <Button variant="primary" wide onClick={onStay}>
          {t("steps:replace.stay")}
        </Button>
        <Button wide onClick={onUse}>
          {t("steps:replace.use")}
        </Button>
      </div>
    </Step>
  );
}
