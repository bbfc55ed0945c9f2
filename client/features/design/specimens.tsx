import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Badge } from "#client/components/badge.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { Checkbox, Select, TextArea, TextField } from "#client/components/field.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { Tabs } from "#client/components/tabs.tsx";
import { showToast } from "#client/lib/interface-store.ts";
import { paths } from "#client/paths.ts";
import type { ModelCategory } from "#domain/models.ts";
import { modelCategories } from "#domain/models.ts";
import styles from "./design.module.css";

const variants = ["primary", "secondary", "quiet", "danger"] as const;
const tones = ["neutral", "accent", "good", "warning", "danger"] as const;
const alertTones = ["info", "good", "warning", "danger"] as const;

export function ButtonSpecimens() {
  const { t } = useTranslation("design");
  return (
    <>
      {variants.map((variant) => (
        <div key={variant} className={styles.row}>
          <Button variant={variant}>{t(`button.${variant}`)}</Button>
          <Button variant={variant} size="small">
            {t("button.small")}
          </Button>
          <Button variant={variant} disabled>
            {t("button.disabled")}
          </Button>
          <Button variant={variant} busy busyLabel={t("button.busy")}>
            {t(`button.${variant}`)}
          </Button>
          <LinkButton variant={variant} href={paths.design}>
            {t("button.link")}
          </LinkButton>
        </div>
      ))}
    </>
  );
}

export function FieldSpecimens() {
  const { t } = useTranslation("design");
  const options = [
    { value: "one", label: t("field.one") },
    { value: "two", label: t("field.two") },
  ];
  return (
    <div className={styles.columns}>
      <TextField label={t("field.email")} hint={t("field.emailHint")} type="email" autoComplete="off" required />
      <TextField label={t("field.email")} error={t("field.emailError")} defaultValue="maria@" autoComplete="off" />
      <TextField label={t("field.disabled")} defaultValue="maria@example.com" disabled />
      <Select label={t("field.category")} options={options} />
      <TextArea label={t("field.message")} rows={3} />
      <Checkbox label={t("field.check")} hint={t("field.checkHint")} defaultChecked />
    </div>
  );
}

export function ChoiceSpecimens() {
  const { t } = useTranslation(["design", "common"]);
  const [category, setCategory] = useState<ModelCategory>("text");
  const options = modelCategories.map((value) => ({ value, label: t(`common:model.category.${value}`) }));
  return (
    <>
      <Segmented label={t("choice.label")} options={options} value={category} onChange={setCategory} />
      <Tabs label={t("choice.label")} tabs={options} value={category} onChange={setCategory}>
        <p>{t("choice.panel")}</p>
      </Tabs>
    </>
  );
}

export function BadgeSpecimens() {
  const { t } = useTranslation("design");
  return (
    <div className={styles.row}>
      {tones.map((tone) => (
        <Badge key={tone} tone={tone}>
          {t(`badge.${tone}`)}
        </Badge>
      ))}
    </div>
  );
}

export function MessageSpecimens() {
  const { t } = useTranslation("design");
  return (
    <div className={styles.stack}>
      {alertTones.map((tone) => (
        <Alert
          key={tone}
          tone={tone}
          {...(tone === "danger" && { title: t("message.title"), action: <Button size="small">{t("message.action")}</Button> })}
        >
          {t(`message.${tone}`)}
        </Alert>
      ))}
    </div>
  );
}

export function OverlaySpecimens() {
  const { t } = useTranslation(["design", "common"]);
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <div className={styles.row}>
      <Button onClick={() => setOpen(true)}>{t("openDialog")}</Button>
      <Button onClick={() => showToast({ tone: "good", title: t("toastTitle"), text: t("toastText") })}>{t("showToast")}</Button>
      <Dialog
        open={open}
        onClose={close}
        title={t("dialogTitle")}
        actions={
          <>
            <Button onClick={close}>{t("common:cancel")}</Button>
            <Button variant="danger" onClick={close}>
              {t("dialogConfirm")}
            </Button>
          </>
        }
      >
        <p>{t("dialogText")}</p>
      </Dialog>
    </div>
  );
}
