import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { LinkButton } from "#client/components/button.tsx";
import { paths, signUpPath } from "#client/paths.ts";
import styles from "./first-step.module.css";

interface FirstStepProps {
  signedIn: boolean;
  /** A secondary link beside the button, to the plans. */
  children: ReactNode;
}

/** The main button: it leads signed-in people to the plans and everybody else to sign-up (spec §2). */
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
