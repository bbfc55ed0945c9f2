import { Code, ListChecks, MessageSquareReply, Scale } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { shortlist } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import styles from "./start.module.css";

const prompts = [
  ["reply", MessageSquareReply],
  ["week", ListChecks],
  ["code", Code],
  ["compare", Scale],
] as const;

interface StartProps {
  chosen: OfferedModel | undefined;
  onChoose: (modelId: string) => void;
  /** Opens the whole catalogue. */
  onAll: () => void;
  /** Puts a prompt into the composer. */
  onPrompt: (text: string) => void;
}

function Prompts({ onPrompt }: Pick<StartProps, "onPrompt">) {
  const { t } = useTranslation("chat");
  return (
    <ul className={styles.prompts} aria-label={t("prompts.label")}>
      {prompts.map(([name, Icon]) => (
        <li key={name}>
          <button type="button" className={styles.prompt} onClick={() => onPrompt(t(`prompts.${name}.text`))}>
            <Icon size={18} aria-hidden="true" />
            {t(`prompts.${name}.title`)}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A few models, each good for something else, and a button for the whole catalogue. */
function Shortlist({ chosen, onChoose, onAll }: Omit<StartProps, "onPrompt">) {
  const { t } = useTranslation("chat");
  const { modelPrice } = useFormat();
  const { models } = useModels();
  return (
    <div className={styles.picker}>
      <ul className={styles.models} aria-label={t("pick.label")}>
        {shortlist(models, chosen?.id).map((model) => (
          <li key={model.id}>
            <button type="button" className={styles.model} aria-pressed={model.id === chosen?.id} onClick={() => onChoose(model.id)}>
              <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />
              <span className={styles.name}>{model.name}</span>
              <span className={styles.price}>{modelPrice(model)}</span>
              <span className={styles.goodFor}>{model.goodFor ? t(`pick.goodFor.${model.goodFor}`) : model.server}</span>
            </button>
          </li>
        ))}
      </ul>
      <Button variant="quiet" size="small" className={styles.all} onClick={onAll}>
        {t("pick.all", { count: models.length })}
      </Button>
    </div>
  );
}

/** The screen of a new conversation: models and prompts to start with. */
export function Start({ onPrompt, ...picker }: StartProps) {
  const { t } = useTranslation("chat");
  return (
    <div className={styles.start}>
      <div className={styles.column}>
        <h1>{t("start.title")}</h1>
        <Prompts onPrompt={onPrompt} />
        <Shortlist {...picker} />
      </div>
    </div>
  );
}
