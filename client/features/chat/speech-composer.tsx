import { Volume2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { apiResponse } from "#client/lib/api.ts";
import { wishVoice } from "#client/lib/speech-wish.ts";
import styles from "./speech-composer.module.css";
import { useVoice, voicesIn, wishKey } from "./use-voice.ts";

/** Plays what a voice sounds like. It is fetched with the token and played from memory. */
function useSample(modelId: string, voice: string | undefined) {
  const [state, setState] = useState<"idle" | "loading" | "playing" | "failed">("idle");
  const audio = useRef<HTMLAudioElement | undefined>(undefined);
  const stop = () => {
    audio.current?.pause();
    audio.current = undefined;
    setState("idle");
  };
  const latest = useRef(stop);
  latest.current = stop;
  // Stops the sample when another voice is chosen or the person leaves the screen.
  const heard = `${modelId} ${voice}`;
  useEffect(() => () => void (heard && latest.current()), [heard]);
  const play = async () => {
    if (state === "playing" || voice === undefined) return stop();
    const player = new Audio();
    audio.current = player;
    setState("loading");
    try {
      const blob = await (await apiResponse("GET /api/voices/:model/:voice/sample", { params: { model: modelId, voice } })).blob();
      const address = URL.createObjectURL(blob);
      player.src = address;
      player.onended = () => {
        URL.revokeObjectURL(address);
        setState("idle");
      };
      if (audio.current !== player) return URL.revokeObjectURL(address);
      await player.play();
      setState("playing");
    } catch {
      if (audio.current === player) setState("failed");
    }
  };
  return { state, play };
}

/** Which voice reads, and what it sounds like. */
export function VoiceChoice({ modelId, language: spoken }: { modelId: string; language?: string }) {
  const { t, i18n } = useTranslation("sounds");
  const voice = useVoice(modelId, spoken);
  const { state, play } = useSample(modelId, voice);
  const names = new Intl.DisplayNames([i18n.language], { type: "language" });
  return (
    <div className={styles.row}>
      <label className={styles.voice}>
        <span>{t("voice")}</span>
        <select value={voice} onChange={(event) => wishVoice(wishKey(modelId, spoken), event.target.value)}>
          {voicesIn(modelId, spoken).map(({ id, name, language }) => (
            <option key={id} value={id}>
              {language === null ? name : `${name} · ${names.of(language)}`}
            </option>
          ))}
        </select>
      </label>
      <Button size="small" busy={state === "loading"} onClick={() => void play()}>
        <Volume2 size={16} aria-hidden="true" />
        {t(state === "playing" ? "stopSample" : "sample")}
      </Button>
      {state === "failed" && <span role="alert">{t("sampleFailed")}</span>}
    </div>
  );
}

/** Says that nothing reads a text in this language. */
export function NoVoice({ language }: { language: string }) {
  const { t, i18n } = useTranslation("sounds");
  const name = new Intl.DisplayNames([i18n.language], { type: "language" }).of(language) ?? language;
  return (
    <p className={styles.note} role="status">
      {t("aloud.noVoice", { language: name })}
    </p>
  );
}

/** Shown above the composer's buttons for a model that reads aloud. `unread`: the text's language, if none of the voices can read it. */
export function SpeechComposer({ modelId, unread }: { modelId: string; unread: string | undefined }) {
  return <div className={styles.options}>{unread === undefined ? <VoiceChoice modelId={modelId} /> : <NoVoice language={unread} />}</div>;
}
