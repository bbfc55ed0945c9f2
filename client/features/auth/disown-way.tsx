import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import type { DisownLink } from "#contract/auth/disown.ts";
import { dayMs } from "#domain/clock.ts";
import { disownMs } from "#domain/periods.ts";
import styles from "./auth.module.css";
import { disownWay, lookAtDisown } from "./auth-calls.ts";
import { LinkBusy, LinkFailed, useLink } from "./mailed-link-parts.tsx";
import { ActStep } from "./step.tsx";
import { unlessCode } from "./unless-code.ts";

/** What the link removes, by kind and time: the owner may have added some of it. */
function Ways({ ways }: Pick<DisownLink, "ways">) {
  const { t } = useTranslation("steps");
  const { dateTime } = useFormat();
  return (
    <>
      {ways.length > 0 && (
        <ul className={styles.added}>
          {ways.map(({ kind, addedAt }) => (
            <li key={`${kind} ${addedAt}`}>{t(`disown.ways.${kind}`, { time: dateTime(addedAt) })}</li>
          ))}
        </ul>
      )}
      <p>{t("disown.then")}</p>
    </>
  );
}

interface DisownWayProps {
  token: string;
  /** Called with the token of a link for a new password, once the ways are gone. */
  onDisowned: (token: string) => void;
  signedIn: boolean;
  /** Called when the person goes on without the link. */
  onInstead: () => void;
}

/** Opens the link of a mail about a new way to sign in. Nothing is removed before the person has asked for it here. */
export function DisownWay({ token, onDisowned, ...way }: DisownWayProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const title = t("steps:undo.title");
  const { state, look, fail } = useLink(token, lookAtDisown);
  if (state.step === "looking") return <LinkBusy title={title} />;
  if (state.step === "failed")
    return <LinkFailed code={state.code} title={title} spent={t("steps:undo.spent", { days: disownMs / dayMs })} onAgain={look} {...way} />;
  const { email, ways } = state.link;
  return (
    <ActStep
      title={title}
      lead={t(ways.length > 0 ? "steps:disown.lead" : "steps:disown.none", { email })}
      details={<Ways ways={ways} />}
      submit={{ label: t("steps:disown.submit"), busyLabel: t("steps:disown.busy") }}
      act={() => disownWay(token).then(onDisowned).catch(unlessCode("link_invalid", fail))}
    />
  );
}
