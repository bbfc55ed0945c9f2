import { ArrowRight, Check, Copy, X } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Button, LinkButton } from "#client/components/button.tsx";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import type { PromptModel } from "#client/content/piece.ts";
import { useCopy } from "#client/lib/use-copy.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import { inOrder } from "./inline-text.tsx";
import styles from "./prompt-card.module.css";

const icons = { idle: Copy, copied: Check, failed: X };

/** Marks the text in square brackets, which the reader replaces. */
function slot(text: string): ReactNode {
  return <mark className={styles.slot}>{text}</mark>;
}

function withSlots(text: string): ReactNode {
  const parts = text.split(/(\[[^[\]]+\])/);
  return inOrder(parts.map((part, index) => (index % 2 === 1 ? slot(part) : part)));
}

function CopyPrompt({ text }: { text: string }) {
  const { t } = useTranslation("reading");
  const { state, copy } = useCopy();
  const Icon = icons[state];
  const said = state === "idle" ? t("prompt.copy") : t(`prompt.${state}`);
  return (
    <>
      <Button size="small" onClick={() => copy(text)}>
        <Icon size={16} aria-hidden="true" />
        {said}
      </Button>
      <span role="status">
        <VisuallyHidden>{state === "idle" ? "" : said}</VisuallyHidden>
      </span>
    </>
  );
}

/** A prompt to use: its price, a button to copy it, and a link to the chat with it filled in. */
export function PromptCard({ model, text }: { model: PromptModel; text: string }) {
  const { t, i18n } = useTranslation("reading");
  const { modelPrice } = useFormat();
  const chat = `${paths.aiModels}?${new URLSearchParams({ prompt: text, model: model.id })}`;
  return (
    <figure className={styles.card} aria-label={t("prompt.label", { model: model.name })}>
      <figcaption className={styles.head} lang={i18n.language}>
        <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />
        <span className={styles.name}>{model.name}</span>
        <span className={styles.price}>
          <PriceTiles credits={model.credits} />
          {modelPrice(model)}
        </span>
      </figcaption>
      <div className={styles.text}>{withSlots(text)}</div>
      <div className={styles.actions} lang={i18n.language}>
        <CopyPrompt text={text} />
        <LinkButton href={chat} size="small" variant="primary">
          {t("prompt.try")}
          <ArrowRight size={16} aria-hidden="true" />
        </LinkButton>
      </div>
    </figure>
  );
}
