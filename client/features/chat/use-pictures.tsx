import i18next from "i18next";
import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import { usePictureWish } from "#client/lib/picture-wish.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { focusComposer } from "./composer.tsx";
import { lateModule } from "./late-module.ts";
import { mayAnswer } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import type { Drafting } from "./use-draft.ts";

/** With its texts. */
const usePictureComposer = lateModule(async () => {
  await i18next.loadNamespaces("pictures");
  return import("./picture-composer.tsx");
});

/** What the send costs, and how its pictures are to be asked for. */
export function usePictures(model: OfferedModel | undefined, onChange: () => void): { price: number; options: ReactNode } {
  const count = usePictureWish((wish) => wish.options.count);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(
    () =>
      usePictureWish.subscribe((now, before) => {
        if (now.options !== before.options || now.references !== before.references || now.mask !== before.mask) latest.current();
      }),
    [],
  );
  const makesPictures = model?.unit === "image" && mayAnswer(model);
  const late = usePictureComposer(makesPictures);
  if (!model) return { price: 0, options: null };
  return {
    price: quoteCredits(model, { images: count }),
    options: makesPictures && late && <late.PictureComposer />,
  };
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
