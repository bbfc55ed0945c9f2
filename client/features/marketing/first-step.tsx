import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { LinkButton } from "#client/components/button.tsx";
import { paths, signUpPath } from "#client/paths.ts";
import styles from "./first-step.module.css";

interface FirstStepProps {
  signedIn: boolean;
  /** The quieter link beside the button: a look at the plans first. */
  children: ReactNode;
}

/** The button to begin with: to the plans for who has an account, to sign-up for who has none (spec §2). */
export function FirstStep({ signedIn, children }: FirstStepProps) {
  const { t } = useTranslation("home");
  return (
    <p className={styles.step}>
      <LinkButton href={signedIn ? paths.pricing : signUpPath} variant="primary">
        {t("hero.action")}
      </LinkButton>
      {children}
    </p>
  );
}
