import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { occupy } from "#client/lib/busy.ts";
import { saveFile } from "#client/lib/save-file.ts";
import styles from "./account.module.css";
import { CopyText } from "./copy-text.tsx";
import { StepTitle } from "./step-title.tsx";
import twoStep from "./two-step.module.css";

/** The codes can't be shown again: neither an update of the client nor a closed tab may take them away unasked. */
function useKeepingThePage(): void {
  useEffect(() => {
    const free = occupy();
    const ask = (event: Event) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => {
      free();
      removeEventListener("beforeunload", ask);
    };
  }, []);
}

/** Shows the recovery codes, this once. */
export function RecoveryCodes({ codes, email, onKept }: { codes: readonly string[]; email: string; onKept: () => void }) {
  const { t } = useTranslation("account");
  useKeepingThePage();
  const text = `${codes.join("\n")}\n`;
  const file = `${t("twoStep.codes.file")}\n${email}\n\n${text}`;
  return (
    <>
      <StepTitle>{t("twoStep.codes.title")}</StepTitle>
      <p>{t("twoStep.codes.lead")}</p>
      <div className={twoStep.sheet} data-print-alone>
        <p className={twoStep.onPaper}>
          {t("twoStep.codes.file")}
          <br />
          {email}
        </p>
        <ol className={twoStep.codes}>
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ol>
      </div>
      <div className={styles.actions}>
        <CopyText label={t("twoStep.codes.copy")} text={text} />
        <Button onClick={() => saveFile(new Blob([file], { type: "text/plain" }), "tessera-recovery-codes.txt")}>
          {t("twoStep.codes.download")}
        </Button>
        <Button onClick={() => print()}>{t("twoStep.codes.print")}</Button>
      </div>
      <Button variant="primary" wide onClick={onKept}>
        {t("twoStep.codes.kept")}
      </Button>
    </>
  );
}
