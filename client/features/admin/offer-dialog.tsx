import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Select, TextField } from "#client/components/field.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { BillTo } from "#contract/billing/transfers.ts";
import { plans } from "#domain/plans.ts";
import { ActDialog } from "./act-dialog.tsx";
import styles from "./offer-dialog.module.css";

const days = { fewest: 1, most: 60, usual: "14" } as const;
const intervals = ["month", "year"] as const;

/** The fields of `BillTo`, as they are typed, with the length of each. */
const lines = { name: 150, line1: 200, line2: 200, postalCode: 20, city: 100, state: 50, country: 2 } as const;
type Line = keyof typeof lines;
const lineNames = Object.keys(lines) as Line[];
const optional: readonly (keyof Typed)[] = ["line2", "state"];

const shapes = { country: /^[A-Z]{2}$/, taxType: /^[a-z]{2}(_[a-z]{2,10}){1,2}$/ } as const;

type Typed = Record<Line | "taxType" | "taxValue", string>;
const nothing: Typed = { name: "", line1: "", line2: "", postalCode: "", city: "", state: "", country: "", taxType: "", taxValue: "" };

/** Undefined: something is missing, or has the wrong form. Null: nothing was typed, and what Stripe has stays. */
function billToOf(typed: Typed): BillTo | null | undefined {
  const given = Object.fromEntries(Object.entries(typed).map(([field, text]) => [field, text.trim()])) as Typed;
  if (Object.values(given).every((text) => text === "")) return null;
  const { name, line1, line2, postalCode, city, state, taxType, taxValue } = given;
  const country = given.country.toUpperCase();
  if (lineNames.some((line) => given[line] === "" && !optional.includes(line)) || !shapes.country.test(country)) return;
  if ((taxType === "") !== (taxValue === "") || (taxType !== "" && !shapes.taxType.test(taxType))) return;
  const more = { ...(line2 && { line2 }), ...(state && { state }), ...(taxType && { taxId: { type: taxType, value: taxValue } }) };
  return { name, line1, postalCode, city, country, ...more };
}

function useOffer() {
  const [interval, setInterval] = useState<(typeof intervals)[number]>("month");
  const [due, setDue] = useState<string>(days.usual);
  const [typed, setTyped] = useState(nothing);
  const [tried, setTried] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const billTo = billToOf(typed);
  const isDue = /^\d+$/.test(due) && Number(due) >= days.fewest && Number(due) <= days.most;
  const check = () => {
    setTried(true);
    if (billTo === undefined) setOpen(true);
  };
  const isReady = isDue && billTo !== undefined;
  return { interval, due, typed, tried, billTo, isDue, isReady, isOpen, setInterval, setDue, setTyped, setOpen, check };
}

function BillToFields({ typed, tried, billTo, isOpen, setTyped, setOpen }: ReturnType<typeof useOffer>) {
  const { t } = useTranslation("admin");
  const errorOf = (name: keyof Typed) => {
    if (!tried || billTo !== undefined || optional.includes(name)) return;
    const text = typed[name].trim();
    if (name === "taxType" || name === "taxValue") {
      const hasOther = typed[name === "taxType" ? "taxValue" : "taxType"].trim() !== "";
      if (text === "") return hasOther ? t("person.offer.needed") : undefined;
      return name === "taxType" && !shapes.taxType.test(text) ? t("person.offer.taxTypeHint") : undefined;
    }
    if (text === "") return t("person.offer.needed");
    return name === "country" && !shapes.country.test(text.toUpperCase()) ? t("person.offer.countryHint") : undefined;
  };
  const field = (name: keyof Typed, maxLength: number) => (
    <TextField
      key={name}
      label={t(`person.offer.${name}`)}
      hint={name === "country" || name === "taxType" ? t(`person.offer.${name}Hint`) : undefined}
      error={errorOf(name)}
      autoComplete="off"
      maxLength={maxLength}
      value={typed[name]}
      onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
    />
  );
  return (
    <details className={styles.billTo} open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t("person.offer.billTo")}</summary>
      <div className={styles.fields}>
        <p>{t("person.offer.billToHint")}</p>
        {(["name", "line1", "line2"] as const).map((line) => field(line, lines[line]))}
        <div className={styles.pairs}>{(["postalCode", "city"] as const).map((line) => field(line, lines[line]))}</div>
        {(["state", "country"] as const).map((line) => field(line, lines[line]))}
        {field("taxType", 24)}
        {field("taxValue", 30)}
      </div>
    </details>
  );
}

interface OfferDialogProps {
  email: string;
  onClose: () => void;
  onDone: () => void;
}

/** Offers the Enterprise plan to be paid by bank transfer. The person orders it in their account, as any other plan. */
export function OfferDialog({ email, onClose, onDone }: OfferDialogProps) {
  const { t } = useTranslation("admin");
  const { number, planName } = useFormat();
  const form = useOffer();
  const { interval, due, tried, billTo, isDue } = form;
  const act = (reason: string) =>
    api("POST /api/admin/transfers/offer", { body: { email, interval, daysUntilDue: Number(due), reason, ...(billTo ? { billTo } : {}) } });
  return (
    <ActDialog
      title={t("person.offer.title")}
      action={t("person.offer.action")}
      ready={form.isReady}
      onTry={form.check}
      wordsOf={(error) => (error instanceof ApiProblem && error.code === "conflict" ? t("person.offer.refused") : undefined)}
      {...{ onClose, onDone, act }}
    >
      <p>{t("person.offer.text", { plan: planName(plans.enterprise.key) })}</p>
      <Select
        label={t("person.offer.interval")}
        value={interval}
        onChange={(event) => form.setInterval(intervals.find((each) => each === event.target.value) ?? "month")}
        options={intervals.map((each) => ({ value: each, label: t(`person.offer.${each}`) }))}
      />
      <TextField
        label={t("person.offer.due")}
        error={!isDue && (tried || due !== "") ? t("person.offer.dueWrong", { most: number(days.most) }) : undefined}
        inputMode="numeric"
        autoComplete="off"
        required
        value={due}
        onChange={(event) => form.setDue(event.target.value.trim())}
      />
      <BillToFields {...form} />
    </ActDialog>
  );
}
