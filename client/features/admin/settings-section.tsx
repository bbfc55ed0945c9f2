import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Setting, Variable } from "#contract/settings.ts";
import { settings as known } from "#domain/settings.ts";
import { AdminHead } from "./admin-frame.tsx";
import entries from "./entries.module.css";
import { SettingDialog } from "./setting-dialog.tsx";
import styles from "./settings.module.css";
import { useSettingText } from "./use-setting-text.ts";
import { useSettings } from "./use-settings.ts";

const groups = {
  notice: ["notice"],
  open: ["signUps", "trials", "purchases", "answers"],
  limits: ["requestsPerMinute", "mailsPerMinute", "creditsPerDay"],
  operation: ["logLevel"],
} as const satisfies Record<string, readonly Setting["name"][]>;

/** Who changed it, when and why; for an amount also how far it can be changed. */
function Details({ setting }: { setting: Setting }) {
  const { t } = useTranslation("settings");
  const { number } = useFormat();
  const { dateTime } = useUtc();
  const limits = known[setting.name];
  const { changedAt, changedBy, reason } = setting;
  return (
    <>
      {limits.kind === "amount" && (
        <p className={entries.detail}>
          {t("range", { lowest: number(limits.lowest), highest: number(limits.highest), value: number(limits.default) })}
        </p>
      )}
      {changedAt !== null && (
        <p className={entries.detail}>{t("changedBy", { by: changedBy ?? t("left"), time: dateTime(changedAt), reason })}</p>
      )}
      {setting.isOutside && <p>{t("outsideText")}</p>}
    </>
  );
}

function Entry({ setting, onAsk }: { setting: Setting; onAsk: (wanted: "change" | null) => void }) {
  const { t } = useTranslation("settings");
  const textOf = useSettingText();
  const { name, value, isDefault, isOutside } = setting;
  const { kind } = known[name];
  const change = kind !== "switch" ? "change" : value === true ? "close" : "open";
  return (
    <li className={entries.entry}>
      <div className={styles.words}>
        <p className={entries.name}>
          <span>{t(`names.${name}`)}</span>
          {!isDefault && <Badge tone={value === false ? "warning" : "neutral"}>{t("changed")}</Badge>}
          {isOutside && <Badge tone="danger">{t("outside")}</Badge>}
        </p>
        <p className={styles.explain}>{t(`explain.${name}`)}</p>
        <p className={styles.value}>{textOf(value)}</p>
        <Details setting={setting} />
      </div>
      <div className={entries.actions}>
        <Button size="small" onClick={() => onAsk("change")}>
          {t(change)}
        </Button>
        {(!isDefault || isOutside) && kind !== "switch" && (
          <Button size="small" variant="quiet" onClick={() => onAsk(null)}>
            {t(kind === "notice" ? "takeDown" : "useDefault")}
          </Button>
        )}
      </div>
    </li>
  );
}

/** What a process read at its start. Changing it takes a restart, so it is only shown; most variables are not set, and only named. */
function Environment({ variables }: { variables: readonly Variable[] }) {
  const { t } = useTranslation("settings");
  const unset = variables.filter(({ isSet, value }) => !isSet && value === null);
  return (
    <section className={styles.group}>
      <h2>{t("environment.title")}</h2>
      <p className={styles.explain}>{t("environment.lead")}</p>
      <dl className={styles.variables}>
        {variables
          .filter((variable) => !unset.includes(variable))
          .map(({ name, isSet, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {value === null ? <span className={styles.soft}>{t("environment.hidden")}</span> : <code>{value}</code>}
                {!isSet && <span className={styles.soft}> {t("environment.byDefault")}</span>}
              </dd>
            </div>
          ))}
        {unset.length > 0 && (
          <div>
            <dt>{t("environment.notSet")}</dt>
            <dd>
              <code>{unset.map(({ name }) => name).join(", ")}</code>
            </dd>
          </div>
        )}
      </dl>
    </section>
  );
}

/** What an admin changes without a deploy, within limits; the rest is shown. */
export function SettingsSection({ onChange }: { onChange: () => void }) {
  const { t } = useTranslation(["settings", "admin", "common"]);
  const { page, look, show } = useSettings();
  const [asked, setAsked] = useState<{ name: Setting["name"]; wanted: "change" | null }>();
  const again = (
    <Button size="small" onClick={() => void look()}>
      {t("common:retry")}
    </Button>
  );
  const found = typeof page === "object" ? page.settings : [];
  const setting = found.find(({ name }) => name === asked?.name);
  const done = (changed: Setting) => {
    show(changed);
    onChange();
  };
  return (
    <>
      <AdminHead title={t("admin:sections.settings")} lead={t("settings:lead")} />
      {page === undefined && <Spinner label={t("admin:table.reading")} />}
      {page === "failed" && (
        <Alert tone="warning" action={again}>
          {t("admin:table.failed")}
        </Alert>
      )}
      {typeof page === "object" && (
        <>
          {Object.entries(groups).map(([group, names]) => (
            <section key={group} className={styles.group}>
              <h2>{t(`settings:groups.${group as keyof typeof groups}`)}</h2>
              <ul className={entries.entries}>
                {names.map((name) => {
                  const entry = found.find((each) => each.name === name);
                  return entry && <Entry key={name} setting={entry} onAsk={(wanted) => setAsked({ name, wanted })} />;
                })}
              </ul>
            </section>
          ))}
          <Environment variables={page.variables} />
        </>
      )}
      {asked && setting && (
        <SettingDialog setting={setting} wanted={asked.wanted} onClose={() => setAsked(undefined)} onDone={done} look={look} />
      )}
    </>
  );
}
