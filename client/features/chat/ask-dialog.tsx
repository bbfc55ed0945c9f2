import type { FormEvent } from "react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { Select, TextArea } from "#client/components/field.tsx";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { PictureOptions, Receipt } from "#contract/generations/generations.ts";
import { usualClip } from "#domain/clips.ts";
import { textOf } from "#domain/messages.ts";
import { usualPicture } from "#domain/pictures.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { checkPrompt, limits } from "#domain/rules.ts";
import { charactersOf } from "#domain/speech.ts";
import styles from "./ask-dialog.module.css";
import { askedAgain } from "./asked-again.ts";
import { mayAnswer } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import { priceAgain } from "./price-again.ts";
import type { Again, ThreadMessage } from "./thread.ts";
import { filesOf } from "./thread.ts";

/** Edited prompts that the server refused, by the message that was edited. The dialog shows them when it is opened again. */
const unsent = new Map<string, string>();

const fieldName = "edited";

interface AskDialogProps {
  /** A question to edit, or an answer whose question is to be asked again. */
  message: ThreadMessage;
  /** The receipt of the answer to ask for again, or of the question's latest answer: an edited question is asked in the same way. */
  receipt: Receipt | null;
  modelId: string | undefined;
  /** Available credits. */
  available: number;
  /** Resolves to false if the server refused it. */
  onSend: (again: Again, credits: number) => Promise<boolean>;
  onClose: () => void;
}

type Asked = Pick<AskDialogProps, "message" | "receipt">;

/** What is sent. An edited question keeps its files. An unchanged question gets another answer in its place. */
function againOf({ message, receipt }: Asked, model: OfferedModel, text: string, picture: PictureOptions): Again {
  const { speech } = receipt ?? {};
  const clip = receipt?.clip ?? { ...usualClip };
  const spoken = model.unit === "thousand_characters" && speech ? { speech: { voice: speech.voice } } : {};
  const pictured = model.unit === "image" ? { picture } : model.unit === "clip" ? { clip } : spoken;
  if (message.role !== "user") return { modelId: model.id, prompt: "", place: { questionId: message.parentId ?? "" }, ...pictured };
  const place = { parentId: message.parentId };
  return { modelId: model.id, prompt: text.trim(), place, attached: filesOf(message), ...pictured };
}

function AskPrice({ price, available }: { price: number; available: number }) {
  const { t } = useTranslation("chat");
  const { credits, number } = useFormat();
  return (
    <p className={styles.price}>
      <PriceTiles credits={price} />
      <span>{t("composer.price", { credits: credits(price) })}</span>
      <span className={styles.note}>{t("composer.available", { number: number(available) })}</span>
    </p>
  );
}

const soundOf = (message: ThreadMessage) => filesOf(message).find(({ reading }) => reading.as === "sound");

/**
 * Recordings go only to models that transcribe, which take nothing else. Pictures and clips are asked again only of models that make them.
 * A text whose length is not known here has no price for reading aloud.
 */
function mayAnswerThis({ message, receipt }: Asked, { unit }: OfferedModel): boolean {
  if (receipt?.picture) return unit === "image";
  if (receipt?.clip) return unit === "clip";
  const recorded = receipt?.recording !== undefined || soundOf(message) !== undefined;
  if (recorded || unit === "minute") return recorded && unit === "minute";
  return unit !== "thousand_characters" || message.role === "user" || receipt?.speech !== undefined;
}

/** Which model can't be asked now, in one sentence with its successor. Null if it can. */
function useLostText({ lost, successor }: Pick<ReturnType<typeof askedAgain>, "lost" | "successor">): string | null {
  const { t } = useTranslation("dialogs");
  if (!lost) return null;
  const { name } = lost;
  return successor ? t("again.lostTo", { name, successor: successor.name }) : t("again.lost", { name });
}

/** The models that can answer this, and the one that will be asked. */
function useChoice(asked: Asked, answeredId: string | undefined) {
  const [chosen, setChosen] = useState<string>();
  const all = useModels((state) => state.models);
  const models = all.filter((each) => mayAnswer(each) && mayAnswerThis(asked, each));
  const usual = askedAgain(models, all, answeredId);
  const lostText = useLostText(usual);
  // If the chosen model has become unavailable, no other takes its place: the person has to choose.
  const model = chosen === undefined ? usual.model : models.find(({ id }) => id === chosen);
  return { models, model, lostText, setChosen };
}

function measureOf(message: ThreadMessage, text: string) {
  return { seconds: (soundOf(message)?.durationMs ?? 0) / 1_000, characters: charactersOf(text.trim()) };
}

/** Asks an edited question, or the same question of any model, at the price shown. Earlier questions and answers stay. */
export function AskDialog({ message, receipt, modelId, available, onSend, onClose }: AskDialogProps) {
  const { t } = useTranslation(["chat", "common", "dialogs"]);
  const { credits, number } = useFormat();
  const edits = message.role === "user";
  const [text, setText] = useState(() => unsent.get(message.id) ?? textOf(message));
  const { models, model, lostText, setChosen } = useChoice({ message, receipt }, modelId);
  const picture = receipt?.picture ?? { ...usualPicture };
  const fault = edits ? checkPrompt(text) : undefined;
  const tooLong = fault !== undefined && text.trim() !== "";
  const limit = { count: limits.promptMax, formatted: number(limits.promptMax) };

  useEffect(() => {
    const field = document.querySelector<HTMLTextAreaElement>(`textarea[name="${fieldName}"]`);
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
  }, []);

  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (!model || fault !== undefined) return;
    onClose();
    if (edits) unsent.set(message.id, text);
    const again = againOf({ message, receipt }, model, text, picture);
    if (await onSend(again, priceOf(model))) unsent.delete(message.id);
  };
  const priceOf = (asked: OfferedModel) =>
    edits ? quoteCredits(asked, { images: picture.count, ...measureOf(message, text) }) : priceAgain(asked, { ...receipt, picture });
  const price = model ? credits(priceOf(model)) : "";
  const act = edits ? t("chat:refusal.accept", { credits: price }) : t("chat:answer.retry", { credits: price });
  const actions = (
    <>
      <Button onClick={onClose}>{t("common:cancel")}</Button>
      <Button variant="primary" type="submit" form="ask" disabled={!model || fault !== undefined}>
        {model ? act : t(edits ? "chat:composer.send" : "chat:versions.again")}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t(edits ? "chat:versions.edit" : "chat:versions.again")} actions={actions}>
      <form id="ask" className={styles.form} onSubmit={(event) => void send(event)}>
        {edits && (
          <TextArea
            label={t("chat:composer.label")}
            name={fieldName}
            rows={6}
            value={text}
            error={tooLong ? t("chat:composer.tooLong", limit) : undefined}
            onChange={(event) => setText(event.target.value)}
          />
        )}
        <Select
          label={t("chat:receipt.model")}
          name="model"
          hint={lostText}
          value={model?.id ?? ""}
          options={[
            ...(model ? [] : [{ value: "", label: t("chat:model.choose") }]),
            ...models.map((each) => ({ value: each.id, label: `${each.name} · ${credits(priceOf(each))}` })),
          ]}
          onChange={(event) => setChosen(event.target.value)}
        />
        {model && <AskPrice price={priceOf(model)} available={available} />}
        <p className={styles.note}>{t(edits ? "dialogs:again.promptStays" : "dialogs:again.answerStays")}</p>
      </form>
    </Dialog>
  );
}
