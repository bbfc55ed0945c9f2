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
import type { LanguageCode } from "#domain/languages.ts";
import { languages } from "#domain/languages.ts";
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
    gone: /forfait|bord chaud|Valeur de la formule|a besoin de {{credits}}|"Compté"/,
  },
  it: {
    standing: [
      "quelle evidenziate scadono prima",
      '"Prezzo"',
      "Ti servono {{credits}}",
      '"Si paga"',
      "ha tolto più crediti di quelli rimasti",
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
    gone: /margine\w* cald|Valoarea planului|taxat|Blocat|dorinț|factur\w+ deschis/,
  },
  ru: {
    standing: ["Выделенные плитки сгорят первыми", "{{formatted}} кредит ИИ", "неоплаченн", "Не удалось получить ответ", "Печатает…"],
    gone: /Ваш тариф [^"]{0,20}отменяется|тёпл\S+ кра|открыт\S+ сч[её]т|Ответ пишется/,
  },
  ja: {
    standing: ["強調表示のタイルから先に期限が切れます", "オフラインです。この端末にも保存できませんでした。", "回答を待っています"],
    gone: /暖|ひとつのクレジット|第三者|取り置|元に戻す|今はしない/,
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
  /** In both languages the bare word is a bank's loan. {{credits}} is filled with the whole term. */
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
