import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Button, LinkButton } from "#client/components/button.tsx";
import { classNames } from "#client/components/class-names.ts";
import { fieldSize, rowsOfTiles } from "#client/components/tile-field.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import { monthlyCreditsOf, packMonths } from "#domain/plans.ts";
import styles from "./checkout-return.module.css";
import type { CheckoutReturnView } from "./use-checkout-return.ts";

const columns = 6;
const rows = [0, 1, 2, 3];

/** A field of tiles: outlines first, filled once the credits have arrived. */
function Field({ laid }: { laid: boolean }) {
  const { width, height } = fieldSize(columns * rows.length, columns);
  return (
    <svg className={classNames(styles.field, laid && styles.laid)} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {rows.map((row) => (
        <path key={row} d={rowsOfTiles(columns, columns, row * columns)} />
      ))}
    </svg>
  );
}

/** Title and text for each step. The plan's name and monthly credits come from the catalogue. */
function useWords(view: CheckoutReturnView): { title: string; text: string } {
  const { t } = useTranslation("billing");
  const { credits, planName } = useFormat();
  if (view.step === "expired" && view.packCredits !== null) return { title: t("return.expiredTitle"), text: t("return.packExpiredText") };
  if (view.step !== "paid") return { title: t(`return.${view.step}Title`), text: t(`return.${view.step}Text`) };
  if (view.packCredits !== null)
    return { title: t("return.paidTitle", { credits: credits(view.packCredits) }), text: t("return.packText", { count: packMonths }) };
  return {
    title: t("return.paidTitle", { credits: credits(monthlyCreditsOf(view.tier)) }),
    text: t("return.paidText", { plan: planName(view.tier) }),
  };
}

/**
 * Shown to a person who comes back from the payment page. Its heading has the focus, and gets it again if the focused button
 * disappears.
 */
export function CheckoutReturn({ view }: { view: CheckoutReturnView }) {
  const { t } = useTranslation("billing");
  const { title, text } = useWords(view);
  const heading = useRef<HTMLHeadingElement>(null);
  const { step } = view;
  useEffect(() => {
    const { activeElement } = document;
    if (step && (activeElement === null || activeElement === document.body)) heading.current?.focus({ preventScroll: true });
  }, [step]);
  return (
    <section className={styles.return} data-step={step}>
      <Field laid={step === "paid"} />
      <div className={styles.words} role="status">
        <h2 ref={heading} className={styles.title} tabIndex={-1}>
          {title}
        </h2>
        <p className={styles.text}>{text}</p>
      </div>
      {step === "paid" && (
        <LinkButton href={paths.aiModels} variant="primary" className={styles.action ?? ""}>
          {t("return.chat")}
        </LinkButton>
      )}
      {view.step === "slow" && (
        <Button className={styles.action} busy={view.asking} busyLabel={t("return.asking")} onClick={view.again}>
          {t("return.again")}
        </Button>
      )}
      {view.step === "expired" && (
        <LinkButton
          href={view.packCredits === null ? paths.pricing : `${paths.pricing}#packs`}
          variant="primary"
          className={styles.action ?? ""}
        >
          {t(view.packCredits === null ? "subscription.viewPlans" : "wallet.buyPack")}
        </LinkButton>
      )}
    </section>
  );
}
