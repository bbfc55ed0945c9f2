/** Texts that models read aloud: in which voices, and in which pieces they are sent. */
import type { Model, ModelId } from "./models.ts";

export interface Voice {
  /** The provider's. */
  id: string;
  name: string;
  /** The language that it speaks; null for a voice that speaks any. */
  language: string | null;
}

const voice = (id: string, name: string, language: string | null): Voice => ({ id, name, language });
const anyLanguage = (id: string) => voice(id, id.charAt(0).toUpperCase() + id.slice(1), null);

export const speechLimits = {
  /** The longest text; a prompt is shorter anyway. Up to half an hour of sound, which takes a provider a few minutes. */
  characters: 20_000,
} as const;

/** By model, the usual one first. What providers offer beside these are the same voices in other moods. */
const voices: Readonly<Partial<Record<ModelId, readonly Voice[]>>> = {
  "voxtral-mini-tts-3-0": [
    voice("voice_478", "Sarah", "en"),
    voice("voice_485", "Eric", "en"),
    voice("voice_447", "Yael", "en"),
    voice("voice_484", "Jesse", "en"),
    voice("voice_481", "Fiona", "de"),
    voice("voice_483", "Esmeralda", "es"),
    voice("voice_592", "Marie", "fr"),
    voice("voice_482", "Andrea", "it"),
    voice("voice_480", "Marina", "pt"),
    voice("voice_479", "Linda", "ar"),
  ],
  "gpt-4o-mini-tts": ["marin", "cedar", "alloy", "ash", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer"].map(anyLanguage),
};

export function voicesOf({ id }: Pick<Model, "id">): readonly Voice[] {
  return (voices as Readonly<Record<string, readonly Voice[]>>)[id] ?? [];
}

/** What a voice says so that people hear it before they choose it. */
const samples: Readonly<Record<string, string>> = {
  en: "Hello. This is how I sound when I read to you.",
  de: "Hallo. So klinge ich, wenn ich Ihnen vorlese.",
  es: "Hola. Así sueno cuando leo en voz alta.",
  fr: "Bonjour. Voici ma voix quand je vous fais la lecture.",
  it: "Ciao. Ecco come suono quando leggo ad alta voce.",
  pt: "Olá. É assim que eu soo quando leio em voz alta.",
  ar: "مرحبا. هكذا يبدو صوتي عندما أقرأ لك.",
};

export function sampleOf({ language }: Voice): string {
  return samples[language ?? "en"] ?? samples.en ?? "";
}

/** Scripts that tell the language, the more telling one first: Japanese has Chinese characters too. */
const scripts: readonly [script: RegExp, language: string][] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, "ja"],
  [/\p{Script=Hangul}/gu, "ko"],
  [/\p{Script=Han}/gu, "zh"],
  [/\p{Script=Cyrillic}/gu, "ru"],
  [/\p{Script=Arabic}/gu, "ar"],
  [/\p{Script=Hebrew}/gu, "he"],
  [/\p{Script=Greek}/gu, "el"],
  [/\p{Script=Devanagari}/gu, "hi"],
  [/\p{Script=Thai}/gu, "th"],
];
const writtenOtherwise = new Set(scripts.map(([, language]) => language));
/** A text in another script may name things in Latin letters, and the other way round. */
const tellingShare = 0.15;

/** Which language a text is to be read in: by its script, and in Latin letters the reader's, if it has them, or else English. */
export function languageOfText(text: string, readers: string): string {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const found = scripts.find(([script]) => (text.match(script)?.length ?? 0) > letters * tellingShare);
  if (found) return found[1];
  const [language = "en"] = readers.split("-");
  return writtenOtherwise.has(language) ? "en" : language;
}

/** Whether it is written in Latin letters: then a voice of any such language can read it, even if with an accent. */
function isLatin(language: string): boolean {
  const [own = ""] = language.split("-");
  return !writtenOtherwise.has(own);
}

/**
 * The voices that can read a text of this language: those that speak it, or else, of one in Latin letters, all that there are, the English ones
 * first. A voice can't read letters that it does not know.
 */
export function readersOf(model: Pick<Model, "id">, language: string): readonly Voice[] {
  const [own] = language.split("-");
  const all = voicesOf(model);
  const fitting = all.filter((each) => each.language === own || each.language === null);
  if (fitting.length > 0 || !isLatin(language)) return fitting;
  return all.toSorted((one, other) => Number(other.language === "en") - Number(one.language === "en"));
}

/** The first voice that speaks the language, or any language. */
export function voiceFor(model: Pick<Model, "id">, language: string): Voice | undefined {
  const all = voicesOf(model);
  const [wanted] = language.split("-");
  return all.find((each) => each.language === wanted) ?? all.find((each) => each.language === null);
}

/** Providers count characters like this, and so does the price. */
export function charactersOf(text: string): number {
  return [...text].length;
}

/** The shortest limit of our providers is 4,096 characters. Shorter pieces are ready sooner, and fail one at a time. */
const pieceCharacters = 1_500;

/** Cuts a text at the ends of paragraphs, sentences or words, so that each piece is short enough for a provider. Nothing is left out. */
export function speechPieces(text: string, longest: number = pieceCharacters): string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (charactersOf(rest) > longest) {
    const head = [...rest].slice(0, longest).join("");
    const ends = [/^[\s\S]*\n\s*\n/, /^[\s\S]*[.!?…。！？]["'”’»)]*(?=\s|[^\x20-\x7e])/u, /^[\s\S]*[\s、，]/].map(
      (end) => end.exec(head)?.[0] ?? "",
    );
    // An end that comes very early would make many tiny pieces.
    const cut = ends.find((end) => end.length > head.length / 4) ?? head;
    pieces.push(cut.trim());
    rest = rest.slice(cut.length).trim();
  }
  if (rest !== "") pieces.push(rest);
  return pieces.filter((piece) => piece !== "");
}
