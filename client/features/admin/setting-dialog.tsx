import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Select, TextField } from "#client/components/field.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Setting } from "#contract/settings.ts";
import { isWithinLimits, settings } from "#domain/settings.ts";
import { ActDialog } from "./act-dialog.tsx";
import { NoticeFields, usualNotice } from "./notice-fields.tsx";
import { useSettingText } from "./use-setting-text.ts";

interface SettingDialogProps {
  /** The setting as it is now. It can change while the dialog is open, because somebody else may change it. */
  setting: Setting;
  /** Null: the default is to be restored. */
  wanted: "change" | null;
  onClose: () => void;
  onDone: (changed: Setting) => void;
  /** Reads the settings again. */
  look: () => Promise<boolean>;
}

function AmountField({ name, text, onChange }: { name: Setting["name"]; text: string; onChange: (text: string) => void }) {
  const { t } = useTranslation("settings");
  const { number } = useFormat();
  const setting = settings[name];
  if (setting.kind !== "amount") return null;
  const limits = { lowest: number(setting.lowest), highest: number(setting.highest) };
  return (
    <TextField
      label={t(`names.${name}`)}
      hint={t("range", { ...limits, value: number(setting.default) })}
      error={isWithinLimits(name, numberOf(text)) ? undefined : t("whole", limits)}
      inputMode="numeric"
      autoComplete="off"
      maxLength={7}
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** NaN if the text is not a number. */
const numberOf = (text: string) => (/^\d+$/.test(text.trim()) ? Number(text) : Number.NaN);

function useValue({ name, value }: Setting): { value: Setting["value"]; ready: boolean; field: ReactNode } {
  const { t } = useTranslation("settings");
  const setting = settings[name];
  const [amount, setAmount] = useState(String(value));
  const [choice, setChoice] = useState(String(value));
  const [notice, setNotice] = useState(() => (typeof value === "object" && value !== null ? value : usualNotice(Date.now())));
  switch (setting.kind) {
    case "switch":
      // Null restores the default, which is on.
      return { value: value === true ? false : null, ready: true, field: null };
    case "amount": {
      const ready = isWithinLimits(name, numberOf(amount));
      return { value: numberOf(amount), ready, field: <AmountField name={name} text={amount} onChange={setAmount} /> };
    }
    case "choice": {
      const options = setting.choices.map((each) => ({ value: each, label: each }));
      const known = setting.choices.some((each) => each === choice) ? choice : setting.choices[0];
      const label = t(`names.${name}`);
      return {
        value: known,
        ready: true,
        field: <Select label={label} value={known} options={options} onChange={(e) => setChoice(e.target.value)} />,
      };
    }
    case "notice":
      return { value: notice, ready: isWithinLimits(name, notice), field: <NoticeFields notice={notice} onChange={setNotice} /> };
  }
}

function titleOf({ name, value }: Setting, wanted: SettingDialogProps["wanted"]): "takeDown" | "useDefault" | "close" | "open" | "change" {
  const { kind } = settings[name];
  if (wanted === null) return kind === "notice" ? "takeDown" : "useDefault";
  if (kind !== "switch") return "change";
  return value === true ? "close" : "open";
}

/**
 * Changes a setting, or puts its default back. If somebody else has changed it meanwhile it says so with their value, and keeps what was
 * entered; confirming again sets it on top of theirs.
 */
export function SettingDialog({ setting, wanted, onClose, onDone, look }: SettingDialogProps) {
  const { t } = useTranslation("settings");
  const textOf = useSettingText();
  // The value when the dialog was opened: the fields begin with it, and a switch is switched from it.
  const [begun] = useState(setting);
  const entered = useValue(begun);
  const { name, version } = setting;
  const action = t(titleOf(begun, wanted));

  async function act(reason: string): Promise<void> {
    try {
      const value = wanted === null ? null : entered.value;
      onDone(await api("PUT /api/admin/settings/:name", { params: { name }, body: { version, value, reason } }));
      onClose();
    } catch (error) {
      // What somebody else has set is then shown above the fields.
      if (error instanceof ApiProblem && error.code === "conflict" && (await look())) return;
      throw error;
    }
  }

  return (
    <ActDialog
      title={t("title", { action, name: t(`names.${name}`) })}
      action={action}
      danger={begun.value === true && settings[name].kind === "switch" && wanted !== null}
      ready={wanted === null || entered.ready}
      onClose={onClose}
      onDone={() => undefined}
      act={act}
    >
      <p>{wanted === null ? t("default", { value: textOf(setting.default) }) : t(`explain.${name}`)}</p>
      {version !== begun.version && (
        <Alert tone="warning">{t("conflict", { by: setting.changedBy ?? t("left"), value: textOf(setting.value) })}</Alert>
      )}
      {wanted !== null && entered.field}
    </ActDialog>
  );
}
