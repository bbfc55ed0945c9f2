import { Volume2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { SoundPlayer } from "#client/components/sound-player.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem, api, isAbort } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Receipt } from "#contract/generations/generations.ts";
import type { SoundPart } from "#contract/generations/sounds.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { charactersOf, languageOfText, readersOf, speechLimits, voiceFor } from "#domain/speech.ts";
import { spokenText } from "#domain/spoken-text.ts";
import type { AnswerListener, AnswerSource } from "./answer-stream.ts";
import { followAnswer, silentListener } from "./answer-stream.ts";
import { useChat } from "./chat-store.ts";
import { FailureText } from "./failure-text.tsx";
import { readsAloud } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import styles from "./read-aloud.module.css";
import { RoomLink } from "./room-link.tsx";
import { NoVoice, VoiceChoice } from "./speech-composer.tsx";
import { hasAccent, useVoice } from "./use-voice.ts";

type State =
  | { phase: "looking" | "asking" }
  | { phase: "reading"; generationId: string | null }
  | { phase: "ready"; sound: SoundPart; isNew: boolean }
  | { phase: "failed"; code: string; receipt?: Receipt };

/** Finds an earlier reading, which costs nothing, or asks for one. A reading that ends while the panel is closed is found the next time. */
function useReading(answerId: string) {
  const [state, setState] = useState<State>({ phase: "looking" });
  const running = useRef(new AbortController());
  const key = useRef(crypto.randomUUID());

  const follow = async (source: AnswerSource) => {
    let sound: SoundPart | undefined;
    const listener: AnswerListener = {
      ...silentListener,
      started: ({ generationId }) => setState({ phase: "reading", generationId }),
      sounded: (made) => {
        sound = made;
      },
    };
    setState({ phase: "reading", generationId: null });
    try {
      const receipt = await followAnswer(source, listener, running.current.signal);
      if (receipt.availableAfter !== null) useChat.setState({ lastAvailable: receipt.availableAfter });
      // A further try is a new answer, so it needs a new key.
      key.current = crypto.randomUUID();
      if (sound) setState({ phase: "ready", sound, isNew: true });
      else setState(receipt.status === "stopped" ? { phase: "asking" } : { phase: "failed", code: "failed", receipt });
    } catch (error) {
      if (isAbort(error)) return;
      const code = error instanceof ApiProblem ? error.code : "network";
      if (code !== "network" && code !== "unexpected") key.current = crypto.randomUUID();
      setState({ phase: "failed", code });
    }
  };
  const begun = useRef(follow);
  begun.current = follow;
  useEffect(() => {
    const controller = new AbortController();
    running.current = controller;
    api("GET /api/generations/:id/sound", { params: { id: answerId }, signal: controller.signal }).then(
      ({ answer }) => {
        const sound = answer?.parts.find((part) => part.kind === "sound");
        if (sound) setState({ phase: "ready", sound, isNew: false });
        else if (answer?.status === "streaming") void begun.current({ generationId: answer.generationId });
        else setState({ phase: "asking" });
      },
      // If we can't find out whether there is one, the person may ask for a new one at the price shown.
      (error: unknown) => isAbort(error) || setState({ phase: "asking" }),
    );
    return () => controller.abort();
  }, [answerId]);
  const stop = (generationId: string) => void api("POST /api/generations/:id/stop", { params: { id: generationId } }).catch(() => {});
  return { state, follow, stop, key };
}

interface ReadAloudProps {
  answerId: string;
  text: string;
}

/** The first model that may be asked and has a voice that speaks the language, or else one that reads it with an accent. */
function useReader(language: string): OfferedModel | undefined {
  return useModels(({ models }) => {
    const asked = models.filter(readsAloud);
    return asked.find((model) => voiceFor(model, language)) ?? asked.find((model) => readersOf(model, language).length > 0);
  });
}

/** Reads an answer aloud: its price and voice first, then the player. A reading of before is heard in any case. */
export function ReadAloud({ answerId, text }: ReadAloudProps) {
  const { t, i18n } = useTranslation(["sounds", "errors", "refusals", "uploads"]);
  const { credits } = useFormat();
  const { state, follow, stop, key } = useReading(answerId);
  const spoken = spokenText(text);
  const characters = charactersOf(spoken);
  const language = languageOfText(spoken, i18n.language);
  const model = useReader(language);
  const voice = useVoice(model?.id ?? "", language);
  if (state.phase === "looking") return <Spinner size="small" label={t("sounds:aloud.loading")} />;
  if (state.phase === "ready") {
    const { fileId, durationMs } = state.sound;
    return <SoundPlayer {...{ fileId, durationMs }} label={t("sounds:player")} name={`${t("sounds:player")}.mp3`} autoPlay={state.isNew} />;
  }
  if (characters === 0) return <p className={styles.note}>{t("sounds:aloud.nothing")}</p>;
  if (characters > speechLimits.characters) return <p className={styles.note}>{t("sounds:aloud.tooLong")}</p>;
  if (state.phase === "reading") {
    const { generationId } = state;
    return (
      <p className={styles.row}>
        <Spinner size="small" />
        <span>{t("sounds:speaking")}</span>
        {generationId !== null && (
          <Button size="small" onClick={() => stop(generationId)}>
            {t("sounds:aloud.stop")}
          </Button>
        )}
      </p>
    );
  }
  if (!model) return <NoVoice language={language} />;
  const price = quoteCredits(model, { characters });
  const begin = () => {
    // The button names the price, so a limit from which the person wants to be asked is answered by it.
    const wish = {
      model: model.id,
      reads: answerId,
      quotedCredits: price,
      confirmed: true,
      ...(voice !== undefined && { speech: { voice } }),
    };
    void follow({ request: wish, idempotencyKey: key.current });
  };
  return (
    <div className={styles.panel}>
      {hasAccent(model.id, language) && (
        <p>{t("sounds:aloud.accent", { language: new Intl.DisplayNames([i18n.language], { type: "language" }).of(language) })}</p>
      )}
      <p>{t("sounds:aloud.text", { model: model.name, credits: credits(price) })}</p>
      <VoiceChoice modelId={model.id} language={language} />
      {state.phase === "failed" && (
        <p className={styles.fault} role="alert">
          {state.code === "failed" ? t("sounds:aloud.failed") : problemText(state.code)} <RoomLink code={state.code} />
          {state.receipt?.filterReason !== undefined && (
            <>
              {" "}
              <FailureText receipt={state.receipt} />
            </>
          )}
        </p>
      )}
      <div className={styles.row}>
        <Button size="small" variant="primary" onClick={begin}>
          <Volume2 size={16} aria-hidden="true" />
          {t("sounds:aloud.start", { credits: credits(price) })}
        </Button>
      </div>
    </div>
  );
}
