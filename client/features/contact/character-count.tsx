import { useTranslation } from "react-i18next";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { codePoints } from "#domain/rules.ts";
import styles from "./contact.module.css";

/** The count is shown for the last tenth of the allowed length. Screen readers announce it in a few steps, not at every character. */
const nearShare = 0.1;
const spokenSteps = 2;

export function CharacterCount({ value, maximum }: { value: string; maximum: number }) {
  const { t } = useTranslation("contact");
  const format = useFormat();
  const left = maximum - codePoints(value.trim());
  const near = left <= maximum * nearShare;
  const stepLength = (maximum * nearShare) / spokenSteps;
  const spokenLeft = left > 0 ? Math.ceil(left / stepLength) * stepLength : Math.sign(left);
  const text = (count: number) =>
    count >= 0
      ? t("count.left", { count, formatted: format.number(count) })
      : t("count.over", { count: -count, formatted: format.number(-count) });
  return (
    <>
      {near && (
        <p className={styles.count} data-over={left < 0 || undefined} aria-hidden="true">
          {text(left)}
        </p>
      )}
      <span role="status">{near && <VisuallyHidden>{spokenLeft < 0 ? t("count.tooLong") : text(spokenLeft)}</VisuallyHidden>}</span>
    </>
  );
}
