import type { ReactNode } from "react";
import { Card } from "#client/components/card.tsx";
import styles from "./billing-panel.module.css";

interface BillingPanelProps {
  /** Its id, and the beginning of its heading's. */
  name: string;
  title: string;
  /** What it is for, a paragraph each. */
  lead: readonly string[];
  children: ReactNode;
}

/** A panel of the account's section about invoices and payments. */
export function BillingPanel({ name, title, lead, children }: BillingPanelProps) {
  return (
    <Card as="section" id={name} className={styles.panel ?? ""} aria-labelledby={`${name}-title`}>
      <h2 id={`${name}-title`}>{title}</h2>
      {lead.map((sentence) => (
        <p key={sentence} className={styles.lead}>
          {sentence}
        </p>
      ))}
      {children}
    </Card>
  );
}
