import type { InputHTMLAttributes, ReactNode, SelectHTMLAttributes, TextareaHTMLAttributes } from "react";
import { useId } from "react";
import { classNames } from "./class-names.ts";
import styles from "./field.module.css";

interface Common {
  label: string;
  /** A sentence under the label. */
  hint?: ReactNode;
  /** What is wrong and what to do. It is shown at the field and announced when it appears. */
  error?: string | undefined;
}

interface Wiring {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

function Field({
  label,
  hint,
  error,
  required,
  children,
}: Common & { required?: boolean | undefined; children: (wiring: Wiring) => ReactNode }) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
        {required && <span aria-hidden="true"> *</span>}
      </label>
      {hint && (
        <p className={styles.hint} id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": error ? true : undefined })}
      <p className={styles.error} id={`${id}-error`} aria-live="polite">
        {error}
      </p>
    </div>
  );
}

interface TextFieldProps extends Common, Omit<InputHTMLAttributes<HTMLInputElement>, "id"> {
  /** Shown at the end of the field: a button that shows the password, or a unit. */
  trailing?: ReactNode;
}

export function TextField({ label, hint, error, trailing, className, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} required={input.required}>
      {(wiring) => (
        <div className={classNames(styles.box, trailing ? styles.trailed : undefined)}>
          <input {...input} {...wiring} className={classNames(styles.control, className)} />
          {trailing && <span className={styles.trailing}>{trailing}</span>}
        </div>
      )}
    </Field>
  );
}

/** A field for an email address: it asks for the keyboard with @ and turns spelling correction off. */
export function EmailField(props: Omit<TextFieldProps, "type">) {
  return <TextField type="email" inputMode="email" autoComplete="email" autoCapitalize="none" spellCheck={false} {...props} />;
}

interface TextAreaProps extends Common, Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "id"> {}

export function TextArea({ label, hint, error, className, ...area }: TextAreaProps) {
  return (
    <Field label={label} hint={hint} error={error} required={area.required}>
      {(wiring) => <textarea rows={5} {...area} {...wiring} className={classNames(styles.control, styles.area, className)} />}
    </Field>
  );
}

interface SelectProps extends Common, Omit<SelectHTMLAttributes<HTMLSelectElement>, "id"> {
  options: readonly { value: string; label: string; lang?: string }[];
}

export function Select({ label, hint, error, options, className, ...select }: SelectProps) {
  return (
    <Field label={label} hint={hint} error={error} required={select.required}>
      {(wiring) => (
        <div className={classNames(styles.box, styles.select)}>
          <select {...select} {...wiring} className={classNames(styles.control, className)}>
            {options.map((option) => (
              <option key={option.value} value={option.value} lang={option.lang}>
                {option.label}
              </option>
            ))}
          </select>
        </div>
      )}
    </Field>
  );
}

interface CheckboxProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "type" | "id"> {
  label: ReactNode;
  hint?: ReactNode;
}

export function Checkbox({ label, hint, className, ...input }: CheckboxProps) {
  const id = useId();
  return (
    <div className={classNames(styles.checkbox, className)}>
      <input {...input} type="checkbox" id={id} aria-describedby={hint ? `${id}-hint` : undefined} />
      <div>
        <label htmlFor={id}>
          {label}
          {input.required && <span aria-hidden="true"> *</span>}
        </label>
        {hint && (
          <p className={styles.hint} id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
