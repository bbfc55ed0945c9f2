import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { offeredModels } from "#client/lib/offered-models.ts";
import type { KnownModel } from "#client/lib/shown-edition.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { moneyBackDays, plans } from "#domain/plans.ts";
import { ChatExample } from "./chat-example.tsx";
import { FirstStep } from "./first-step.tsx";
import styles from "./hero.module.css";

/** The position of the highlighted tile among them. */
const brightPlace = 10;

export function Hero({ signedIn }: { signedIn: boolean }) {
  const { t } = useTranslation("home");
  const format = useFormat();
  return (
    <section className={styles.hero}>
      <div className={styles.text}>
        <h1 className={styles.title}>{t("hero.title", { count: offeredModels().length })}</h1>
        <p className={styles.lead}>{t("hero.lead")}</p>
        <FirstStep signedIn={signedIn}>
          <a href="#plans">{t("hero.plans")}</a>
        </FirstStep>
        <p className={styles.guarantee}>
          {t("hero.guarantee", { price: format.money(plans.starter.monthlyPriceCents), count: moneyBackDays })}
        </p>
      </div>
      <HeroMosaic />
    </section>
  );
}

/** The models' tiles in rows, with the highlighted tile among them, and below them what the models can do. */
function HeroMosaic() {
  const { t } = useTranslation("home");
  const format = useFormat();
  const [pointed, setPointed] = useState<KnownModel | null>(null);
  const models = offeredModels();
  const places: (KnownModel | null)[] = [...models.slice(0, brightPlace), null, ...models.slice(brightPlace)];
  return (
    <figure className={styles.figure}>
      <ul
        className={styles.mosaic}
        aria-label={t("hero.mosaic", { count: offeredModels().length })}
        data-wakes=""
        onPointerLeave={() => setPointed(null)}
      >
        {places.map((model) =>
          model ? (
            <li key={model.id} className={styles.tile} onPointerEnter={() => setPointed(model)}>
              <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />
              <VisuallyHidden>{format.namedPrice(model)}</VisuallyHidden>
            </li>
          ) : (
            <li key="bright" className={styles.bright} aria-hidden="true" />
          ),
        )}
      </ul>
      <figcaption className={styles.caption}>
        {pointed ? (
          <>
            <strong>{pointed.name}</strong> {format.modelPrice(pointed)}
          </>
        ) : (
          t("chat.caption")
        )}
      </figcaption>
      <ChatExample />
    </figure>
  );
}
