import type { ReactNode } from "react";
import { AnswerForm } from "#client/components/answer-form.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { TextField } from "#client/components/field.tsx";

interface NameDialogProps {
  title: string;
  field: { label: string; hint: string; name: string; autoComplete: string; maxLength?: number };
  current: string;
  /** What is wrong with the name. */
  faultOf: (name: string) => string | undefined;
  /** The dialog closes once it is kept. */
  save: (name: string) => Promise<unknown>;
  submit: { label: string; busyLabel: string };
  onClose: () => void;
}

/** Changes the name of something. */
export function NameDialog({ title, field, current, save, onClose, ...form }: NameDialogProps): ReactNode {
  return (
    <Dialog open onClose={onClose} title={title}>
      <AnswerForm
        {...form}
        initial={current}
        send={(name) => save(name).then(onClose)}
        field={({ onChange, ...state }) => <TextField {...field} {...state} onChange={(event) => onChange(event.target.value)} />}
      />
    </Dialog>
  );
}
