import type { FormEvent, ReactNode } from "react";
import { useRef, useState } from "react";
import styles from "./answer-form.module.css";
import { SubmitButton } from "./submit-button.tsx";
import { useAct } from "./use-act.ts";

interface FieldProps {
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

interface AnswerFormProps {
  /** What stands in the field at first. */
  initial?: string;
  submit: { label: string; busyLabel: string };
  /** What is wrong with the text, to be said at the field instead of sending it. */
  faultOf: (text: string) => string | undefined;
  /** What it throws is shown above the field. */
  send: (text: string) => Promise<unknown>;
  /** Other words for a refusal than its usual ones. */
  wordsOf?: (error: unknown) => string | undefined;
  /** What to say at the field about a refusal, instead of above it. */
  refusedAt?: (error: unknown) => string | undefined;
  field: (props: FieldProps) => ReactNode;
  /** Stands above the refusal. */
  lead?: ReactNode;
  /** Stands below the button. */
  children?: ReactNode;
}

/** A form with one field. */
export function AnswerForm({ initial = "", submit, faultOf, send, wordsOf, refusedAt, field, lead, children }: AnswerFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [text, setText] = useState(initial);
  const [fault, setFault] = useState<string>();
  const { note, waitSeconds, busy, run, clear } = useAct();

  /** Shows the fault and moves the focus to it. */
  function blame(found: string): void {
    setFault(found);
    form.current?.querySelector<HTMLInputElement>("input:not([hidden])")?.focus();
  }

  async function attempt(): Promise<void> {
    try {
      await send(text);
    } catch (error) {
      const found = refusedAt?.(error);
      if (found === undefined) throw error;
      blame(found);
    }
  }

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    const found = faultOf(text);
    if (found === undefined) return void run("send", attempt, wordsOf);
    clear();
    blame(found);
  }

  const onChange = (value: string) => {
    setText(value);
    setFault(undefined);
  };
  return (
    <form ref={form} className={styles.form} onSubmit={onSubmit} noValidate>
      {lead}
      {note}
      {field({ value: text, onChange, error: fault })}
      <SubmitButton {...submit} busy={busy !== undefined} waitSeconds={waitSeconds} />
      {children}
    </form>
  );
}
