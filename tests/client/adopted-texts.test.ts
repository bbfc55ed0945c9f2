/** Wordings that readers of each language chose, and calques and false statements that must not come back. */
import { describe, expect, it } from "vitest";
import about from "#client/i18n/locales/en/about.json" with { type: "json" };
import billing from "#client/i18n/locales/en/billing.json" with { type: "json" };
import chat from "#client/i18n/locales/en/chat.json" with { type: "json" };
import common from "#client/i18n/locales/en/common.json" with { type: "json" };
import consent from "#client/i18n/locales/en/consent.json" with { type: "json" };
import errors from "#client/i18n/locales/en/errors.json" with { type: "json" };
import home from "#client/i18n/locales/en/home.json" with { type: "json" };
import pricing from "#client/i18n/locales/en/pricing.json" with { type: "json" };
import support from "#client/i18n/locales/en/support.json" with { type: "json" };
import wallet from "#client/i18n/locales/en/wallet.json" with { type: "json" };
import { shownActions } from "#domain/audit.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { languages } from "#domain/languages.ts";
import { catalogue, modelCategories } from "#domain/models.ts";
import { spoken } from "#tests/support/locales.ts";
import { listFiles, read } from "#tests/support/sources.ts";

const everything = (language: LanguageCode) =>
  [...listFiles(`client/i18n/locales/${language}`, /\.json$/), `server/features/notifications/locales/${language}.json`]
    .map(read)
    .join("\n");

describe("the English texts", () => {
  it("are the adopted ones", () => {
    expect(consent.text).toMatch(/^No ads, no trackers\. You can let us measure which features are used\. /);
    expect([consent.boxes.cookies, common.loading, common.theme.system]).toEqual(["Usage statistics", "Loading", "System"]);
    expect([errors.network, errors.unexpected]).toEqual([
      "You're offline. Try again once connected.",
      "Something went wrong on our side. Try again.",
    ]);
    expect([billing.checkout.noUrlAdvice, billing.subscription.planValue, billing.wallet.failed, billing.ledger.lead]).toEqual([
      "The payment page didn't open. Try again.",
      "Price",
      "We couldn't load your wallet.",
      "The latest changes, newest first.",
    ]);
    expect([chat.start.title, chat.answer.waiting, chat.failure.provider_empty, chat.given.explain, chat.thread.latest]).toEqual([
      "What are you working on?",
      "Thinking…",
      "The model returned nothing.",
      "You'll find it in the message box once you can send.",
      "Jump to latest",
    ]);
    expect([about.counted.yes, about.counted.no]).toEqual(["You pay for", "You don't pay for"]);
    expect([pricing.finder.small, pricing.finder.large]).toEqual(["Small-model answers", "Large-model answers"]);
    expect(pricing.fairness.stop.title).toBe("Free to stop until it begins");
    expect(pricing.packs.lead_other).toMatch(/^For busy months\. /);
    expect(home.summary.grace).toMatch(/ Pay the unpaid invoice in your account\.$/);
    expect(wallet.scale_other).toMatch(/ Highlighted tiles expire first\.$/);
    expect(support.languages.answer).toMatch(/^The app speaks \{\{names\}\}; guides and legal pages are in English\./);
  });
});

/** `standing`: phrases of the adopted wording. `gone`: what they replaced. */
const wordings: Record<LanguageCode, { standing: readonly string[]; gone: RegExp }> = {
  en: {
    standing: [],
    gone: /Stopping early is free|warm edge|third part(y|ies)|a month needs|Counted for|Waiting for the first word|E-mail/,
  },
  de: {
    standing: [
      "Hervorgehobene Kacheln verfallen zuerst",
      "Tarifpreis",
      "Für deinen Monat brauchst du {{credits}}",
      "Mit diesem Link meldest du dich",
      "jeweils am Monatstag deines Abschlusses",
      "Woran arbeitest du?",
    ],
    gone: /warme[nr]? Rand|Tarifwert|Monat braucht\b|Wähl |Rückmeldung|Einlass|Was darf es sein/,
  },
  es: {
    standing: ["las destacadas caducan primero", '"Precio"', '"Se cobra"', "Esa dirección ya tiene cuenta", "Pensando…"],
    gone: /borde cálido|Valor del|deseo|Ya tiene una cuenta|Esperando la primera/,
  },
  fr: {
    standing: [
      "les carreaux colorés expirent d’abord",
      '"Prix"',
      "Il vous faut {{credits}}",
      '"Facturé"',
      "La forme importe peu",
      "Aller au dernier message",
      "sans abonnement actif",
    ],
    gone: /[Ff]orfait|bord chaud|Valeur de la formule|a besoin de {{credits}}|"Compté"/,
  },
  it: {
    standing: [
      "quelle evidenziate scadono prima",
      '"Prezzo"',
      "Ti servono {{credits}}",
      '"Si paga"',
      "detratti più crediti di quelli rimasti",
      "valido fino al",
      "Di’ pure quello che pensi",
    ],
    gone: /bordo caldo|Valore del piano|ha bisogno di {{credits}}|"Contato"|desiderio/,
  },
  pt: {
    standing: [
      "as destacadas vencem primeiro",
      '"Preço"',
      "Você precisa de {{credits}}",
      '"É cobrado"',
      "Esse e-mail já tem uma conta",
      "você entra automaticamente",
    ],
    gone: /borda quente|Valor do plano|"Contado"|desejo/,
  },
  pl: {
    standing: ["a wyróżnione wygasną najwcześniej", '"Cena"', "{{formatted}} kredyt AI", "nieopłacon"],
    gone: /ciepł\w+ krawęd|Wartość planu|Ma on już|otwart\w+ faktur|na próbę/,
  },
  ro: {
    standing: ["cele evidențiate expiră primele", "Prețul", "Pentru luni aglomerate", '"Se plătește"', "Pagina principală", "neachitat"],
    gone: /margine\w* cald|Valoarea planului|[Tt]axat|Blocat|dorinț|factur\w+ deschis/,
  },
  ru: {
    standing: ["Выделенные плитки сгорят первыми", "{{formatted}} кредит ИИ", "неоплаченн", "Не удалось получить ответ", "Печатает…"],
    gone: /Ваш тариф [^"]{0,20}отменяется|тёпл\S+ кра|открыт\S+ сч[её]т|Ответ пишется/,
  },
  ja: {
    standing: ["強調表示のタイルから先に期限が切れます", "オフラインです。この端末にも保存できませんでした。", "回答を待っています"],
    gone: /あなた(?!["：])|暖|ひとつのクレジット|第三者|取り置|元に戻す|今はしない/,
  },
  zh: { standing: ["高亮方块最先到期", "正在等待回答"], gone: /暖|一份积分|个人资料|未能通过|第三方/ },
};

describe("the adopted wordings", () => {
  it.each(languages.map(({ code }) => code))("stand in %s, and what they replaced does not come back", (language) => {
    const texts = everything(language);
    const { standing, gone } = wordings[language];
    expect(standing.filter((phrase) => !texts.includes(phrase))).toEqual([]);
    expect(texts.split("\n").filter((line) => gone.test(line))).toEqual([]);
  });
});

type Texts = { readonly [name: string]: string | Texts };

function valuesOf(texts: Texts): string[] {
  return Object.values(texts).flatMap((value) => (typeof value === "string" ? [value] : valuesOf(value)));
}

describe("a credit", () => {
  /** In both languages the word alone means a bank's loan. {{credits}} is filled with the full term. */
  it.each([
    ["pl", /kredyt\p{L}*/iu, /^kredyt\p{L}* AI/iu],
    ["ru", /кредит\p{L}*/iu, /^кредит\p{L}* ИИ/iu],
  ] as const)("is named whole where a text of %s first speaks of it", (language, word, whole) => {
    const files = [...listFiles(`client/i18n/locales/${language}`, /\.json$/), `server/features/notifications/locales/${language}.json`];
    const bare = files.flatMap((file) => {
      const { keywords: _, ...texts } = JSON.parse(read(file)) as Texts;
      return valuesOf(texts).filter((text) => {
        const first = word.exec(text);
        return first && !whole.test(text.slice(first.index)) && !text.includes("{{credits}}");
      });
    });
    expect(bare).toEqual([]);
  });
});

/** Texts that say that a kind of model can't be used yet. The product once had each of them, and kept it after the kind was offered. */
const unusable: Record<LanguageCode, { says: RegExp; former: string }> = {
  en: {
    says: /can['’]t (yet )?be used|can['’]t use yet|in words for now|in this release|not (yet )?(usable|available here)/i,
    former: "Pictures, sound and film are listed with their prices, but the chat works in words for now.",
  },
  de: { says: /noch nicht|vorerst/i, former: "Bildmodelle lassen sich hier noch nicht nutzen." },
  es: { says: /(aún|todavía) no se|por ahora/i, former: "Los modelos de imagen aún no se pueden usar aquí." },
  fr: { says: /(est|sont|peut|peuvent) pas encore/i, former: "Les modèles d’image ne sont pas encore utilisables ici." },
  it: {
    says: /non (si |è |sono )?(può |possono )?ancora/i,
    former: "I modelli di immagini non si possono ancora usare qui.",
  },
  ja: { says: /まだ[^。]*(使|利用|対応)/, former: "画像モデルはまだここでは使えません。" },
  pl: { says: /nie można[^.]* jeszcze|jeszcze nie|na razie/i, former: "Modeli obrazów nie można tu jeszcze używać." },
  pt: { says: /ainda não (pode|é|está|são|estão)|por enquanto/i, former: "Os modelos de imagem ainda não podem ser usados aqui." },
  ro: {
    says: /nu (pot|poate|sunt|este)[^.]* încă|încă nu (pot|poate)/i,
    former: "Modelele de imagini nu pot fi folosite încă aici.",
  },
  ru: { says: /(пока|ещё) не(доступ| )/i, former: "Модели изображений здесь пока недоступны." },
  zh: { says: /还不能|暂不|暂时|尚不/, former: "图片模型目前还不能在这里使用。" },
};
const kinds: Record<LanguageCode, RegExp> = {
  en: /image|picture|sound|audio|recording|speech|video|clip|film|search|model|\btile/i,
  de: /bild|ton\b|audio|aufnahme|sprach|video|clip|modell/i,
  es: /im[aá]gen|sonido|audio|grabaci|voz|v[ií]deo|clip|modelo/i,
  fr: /image|\bsons?\b|audio|enregistrement|voix|vidéo|clip|modèle/i,
  it: /immagin|suon|audio|registrazion|voce|video|clip|modell/i,
  ja: /画像|音声|録音|読み上げ|動画|モデル/,
  pl: /obraz|dźwięk|audio|nagra|głos|wideo|klip|model/i,
  pt: /image[mn]|\bsom|áudio|grava|voz|vídeo|clipe|modelo/i,
  ro: /imagin|sunet|audio|înregistr|voce|video|clip|model/i,
  ru: /изображ|картин|звук|аудио|запис|голос|видео|клип|модел/i,
  zh: /图片|音频|录音|朗读|语音|视频|模型/,
};
const sentencesOf = (text: string) => text.split(/(?<=[.!?])\s+|(?<=。)|[|\n]/);

describe("a kind of models that the catalogue offers", () => {
  it.each(languages.map(({ code }) => code))("is not said to be unusable in %s", (language) => {
    // Once a kind has no model any more, a text may say so.
    const offered = new Set(catalogue.filter(({ until }) => until === undefined).map(({ category }) => category));
    expect([...offered].sort()).toEqual([...modelCategories].sort());
    const { says, former } = unusable[language];
    const denies = (sentence: string) => says.test(sentence) && kinds[language].test(sentence);
    expect(denies(former)).toBe(true);
    const files = [...listFiles(`client/i18n/locales/${language}`, /\.json$/), `server/features/notifications/locales/${language}.json`];
    const texts = files.flatMap((file) => spoken(JSON.parse(read(file)) as Texts));
    const pages = listFiles("client/content", /\.md$/).filter((file) => file.includes(`/${language}/`));
    expect([...texts, ...pages.map(read)].flatMap(sentencesOf).filter(denies)).toEqual([]);
  });
});

describe("the privacy page", () => {
  const privacy = read("client/content/en/privacy.md");

  it("tells the names that cookies have under https", () => {
    const prefix = /https \? `(\w+-)\$/.exec(read("server/http/cookies.ts"))?.[1];
    expect(prefix).toBe("__Host-");
    expect(privacy).toContain(`begin with \`${prefix}\``);
  });

  it("counts what a tab notes until it is closed", () => {
    const written = listFiles("client", /\.tsx?$/).flatMap((file) => [...read(file).matchAll(/sessionStorage\.setItem\(/g)]);
    const number = ["nothing", "one more thing", "two more things", "three more things", "four more things"][written.length];
    expect(privacy).toContain(`Until you close a tab, it notes ${number}:`);
  });

  it("says of every kind of act on an account that the log notes it", () => {
    const named = {
      ...{
        sign_up: "confirmed",
        sign_in: "signed in",
        session: "signed out",
        step_up: "signed in",
        password: "password",
        email: "address",
      },
      ...{ email_change: "address", second_factor: "two-step", factor_reset: "two-step", recovery_codes: "recovery codes" },
      ...{
        recovery_code: "recovery codes",
        google: "Google",
        passkey: "passkeys",
        ways: "passkeys",
        trial: "trial",
        money_back: "money asked back",
      },
      ...{ contract: "withdrawn", export: "copy of the data", support_access: "allowed to read", answer: "answer read" },
      ...{ deletion: "deleted", role: "roles", payments: "what else our team did" },
    } as const;
    const log = /^\| The log of what was done to accounts: .*$/m.exec(privacy)?.[0] ?? "";
    const kindOf = (action: string) => action.split(".")[0] ?? "";
    expect(
      shownActions.map(kindOf).filter((kind) => !log.includes(Object.entries(named).find(([name]) => name === kind)?.[1] ?? kind)),
    ).toEqual([]);
  });
});
