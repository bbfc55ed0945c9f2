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
  /** Of a text; a prompt is shorter anyway. A quarter of an hour of sound, which takes a provider a few minutes. */
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

/** The first voice of the reader's language, or that speaks any, or the first one. */
export function voiceFor(model: Pick<Model, "id">, language: string): Voice | undefined {
  const all = voicesOf(model);
  const [wanted] = language.split("-");
  return all.find((each) => each.language === wanted) ?? all.find((each) => each.language === null) ?? all[0];
}

/** As providers count them, and as the price does. */
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

/**
 * What of an answer's Markdown is read aloud: its words, without marks, addresses and code. Client and server calculate the price from the same
 * text.
 */
export function spokenText(markdown: string): string {
  return markdown
    .replace(/^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1[^\n]*$|(?![\s\S]))/gm, "")
    .replace(/\$\$[\s\S]*?\$\$/g, "")
    .replace(/!\[([^\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)/g, "$1")
    .replace(/\[([^\]]+)\]\([^)\s]*(?:\s+"[^"]*")?\)/g, "$1")
    .replace(/\s?\[\d{1,3}\]/g, "")
    .replace(/<(https?:\/\/[^>\s]+)>/g, "")
    .replace(/https?:\/\/\S+/g, "")
    .replace(/^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$/gm, "")
    .replace(
      /^[ \t]*\|(.*)\|[ \t]*$/gm,
      (_row, cells: string) =>
        `${cells
          .split("|")
          .map((cell) => cell.trim())
          .filter(Boolean)
          .join(", ")}.`,
    )
    .replace(/^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$/gm, "$1.")
    .replace(/^[ \t]*(?:[-*_][ \t]*){3,}$/gm, "")
    .replace(/^[ \t]*>[ \t]?/gm, "")
    .replace(/^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?/gm, "")
    .replace(/(\*\*\*|\*\*|__|~~)(?=\S)([\s\S]*?\S)\1/g, "$2")
    .replace(/(?<![\w*])\*(?=\S)([^*\n]*\S)\*(?![\w*])/g, "$1")
    .replace(/(?<!\w)_(?=\S)([^_\n]*\S)_(?!\w)/g, "$1")
    .replace(/`([^`\n]+)`/g, "$1")
    .replace(/([.!?:;,])\.$/gm, "$1")
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
