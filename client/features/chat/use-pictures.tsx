import i18next from "i18next";
import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import { useClipWish } from "#client/lib/clip-wish.ts";
import { usePictureWish } from "#client/lib/picture-wish.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { focusComposer } from "./composer.tsx";
import { lateModule } from "./late-module.ts";
import { mayAnswer } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import type { Drafting } from "./use-draft.ts";
import { useSounds } from "./use-sounds.tsx";
import { useVoice } from "./use-voice.ts";

const ofFiles = ["files", "errors", "refusals", "uploads"];

/** With its texts. */
const usePictureComposer = lateModule(async () => {
  await i18next.loadNamespaces(["pictures", ...ofFiles]);
  return import("./picture-composer.tsx");
});

const useClipComposer = lateModule(async () => {
  await i18next.loadNamespaces(["clips", "pictures", ...ofFiles]);
  return import("./clip-composer.tsx");
});

/** The price of the send, the options for its pictures or clip, and whether an upload for it is still running. */
function usePictures(model: OfferedModel | undefined, onChange: () => void): { price: number; options: ReactNode; isPending: boolean } {
  const count = usePictureWish((wish) => wish.options.count);
  const picturesPending = usePictureWish((wish) => wish.pending > 0);
  const clipPending = useClipWish((wish) => wish.isPending);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(
    () =>
      usePictureWish.subscribe((now, before) => {
        if (now.options !== before.options || now.references !== before.references || now.mask !== before.mask) latest.current();
      }),
    [],
  );
  useEffect(() => useClipWish.subscribe(() => latest.current()), []);
  const makesPictures = model?.unit === "image" && mayAnswer(model);
  const late = usePictureComposer(makesPictures);
  const makesClips = model?.unit === "clip" && mayAnswer(model);
  const lateClips = useClipComposer(makesClips);
  if (!model) return { price: 0, options: null, isPending: false };
  const options = makesClips ? lateClips && <lateClips.ClipComposer /> : makesPictures && late && <late.PictureComposer />;
  return {
    price: quoteCredits(model, { images: count }),
    options,
    isPending: (makesPictures && picturesPending) || (makesClips && clipPending),
  };
}

/**
 * What the chosen model needs besides the prompt: its price and options, what replaces the prompt's field, and whether an upload is still
 * running.
 */
export function useAsked(model: OfferedModel | undefined, { draft, change }: Pick<Drafting, "draft" | "change">, threadKey: string) {
  const pictures = usePictures(model, () => change({ unsettledKey: null }));
  const sounds = useSounds(model, { draft, change }, threadKey);
  const voice = useVoice(model?.id ?? "");
  const nothing = { field: undefined, recording: undefined, isPending: false };
  return { ...nothing, ...(sounds ?? pictures), fieldReady: sounds?.recording !== undefined, voice };
}

/** Takes what a picture's button has put into the composer. */
export function useGivenPicture(composer: Pick<Drafting, "fill" | "change">): void {
  const given = usePictureWish((wish) => wish.given);
  const { models } = useModels();
  const latest = useRef(composer);
  latest.current = composer;
  useEffect(() => {
    if (!given) return;
    usePictureWish.setState({ given: null });
    const usable = models.filter((model) => model.unit === "image" && mayAnswer(model));
    const model = usable.find(({ id }) => id === given.modelId) ?? usable[0];
    if (given.prompt !== null) latest.current.fill(given.prompt);
    if (model) latest.current.change({ modelId: model.id });
    focusComposer();
  }, [given, models]);
}
