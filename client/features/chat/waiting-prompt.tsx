import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { knownModel } from "#client/lib/known-models.ts";
import type { GivenPrompt } from "#client/offline/given-prompt.ts";
import { keepGivenPrompt, readGivenPrompt } from "#client/offline/given-prompt.ts";
import styles from "./given-prompt.module.css";

interface WaitingPromptProps {
  /** The signed-in person's id, null when nobody is, undefined until that is known. */
  owner: string | null | undefined;
  /** The prompt in the address. */
  text: string | null;
  modelId: string | null;
}

/** A long prompt scrolls, so it has to be reachable with the keyboard. */
const scrollable = { tabIndex: 0 };

/** Shows people who can't send yet the prompt they came with. The device keeps it until they can. */
export function WaitingPrompt({ owner, text, modelId }: WaitingPromptProps) {
  const { t } = useTranslation("chat");
  const [waiting, setWaiting] = useState<GivenPrompt>();

  useEffect(() => {
    if (owner === undefined) return;
    let current = true;
    const given = text === null || text.trim() === "" ? undefined : { text, modelId };
    const known = given ? keepGivenPrompt(owner, given).then(() => given) : readGivenPrompt(owner);
    void known.then((prompt) => {
      if (current) setWaiting(prompt);
    });
    return () => {
      current = false;
    };
  }, [owner, text, modelId]);

  if (!waiting) return null;
  const model = knownModel(waiting.modelId ?? "");
  return (
    <section className={styles.waiting} aria-labelledby="waiting-prompt">
      <h2 id="waiting-prompt">{model ? t("given.waitingFor", { model: model.name }) : t("given.waiting")}</h2>
      <p>{t("given.explain")}</p>
      <blockquote {...scrollable}>{waiting.text}</blockquote>
    </section>
  );
}
