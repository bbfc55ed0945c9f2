import { expect, it } from "vitest";
import { languageOfText, readersOf, voiceFor } from "#domain/speech.ts";

it.each([
  ["The tiles are in. 瓦 means tile.", "de", "de"],
  ["Die Fliesen sind da.", "pt-BR", "pt"],
  // Latin letters are none of these.
  ["The tiles are in.", "ja", "en"],
  ["タイルが届きました。OpenAI の API も使えます。", "en", "ja"],
  ["瓷砖到了，API 也可以用。", "en", "zh"],
  ["Плитка пришла, и API работает.", "en", "ru"],
  ["وصل البلاط.", "en", "ar"],
  ["12 + 30 = 42", "fr", "fr"],
])("%s is read in its own language, or in the reader's", (text, readers, language) => {
  expect(languageOfText(text, readers)).toBe(language);
});

it("a voice reads no language but its own, and one of no language reads all", () => {
  const languages = ["de", "ja", "zh", "pl", "ro", "ru"];
  expect(languages.map((language) => voiceFor({ id: "voxtral-mini-tts-3-0" }, language)?.name)).toEqual([
    "Fiona",
    ...Array(5).fill(undefined),
  ]);
  for (const language of languages) expect(voiceFor({ id: "gpt-4o-mini-tts" }, language)?.language).toBeNull();
});

it("where no voice speaks a language in Latin letters all voices can read it, the English ones first; other letters none can read", () => {
  const voxtral = { id: "voxtral-mini-tts-3-0" };
  const names = (language: string) => readersOf(voxtral, language).map(({ name }) => name);
  expect(names("de")).toEqual(["Fiona"]);
  for (const language of ["pl", "ro"]) {
    expect(names(language)).toHaveLength(10);
    expect(readersOf(voxtral, language)[0]?.language).toBe("en");
  }
  for (const language of ["ru", "ja", "zh", "ko", "el"]) expect(names(language)).toEqual([]);
  expect(readersOf({ id: "gpt-4o-mini-tts" }, "ru")).toHaveLength(11);
});
