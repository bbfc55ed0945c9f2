/**
 * That we never count fewer tokens than a provider. The number beside each text is the smallest number of bytes per token measured with the
 * tokenizers of GPT-4 (cl100k), GPT-4o to GPT-5 (o200k), Llama 3 and Claude 2 in November 2026. No package has the providers' current ones.
 */
import { describe, expect, it, test } from "vitest";
import type { Attachable } from "#domain/attachments.ts";
import { countPieces, piecesOf, readAttachments } from "#domain/attachments.ts";
import { findModel } from "#domain/models.ts";
import { limits } from "#domain/rules.ts";
import { countTokens, mostTokensPerCounted } from "#domain/tokens.ts";

let seed = 12_345;
function random(): number {
  seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
  return seed / 0x7fffffff;
}
const drawn = (length: number, letters: string) =>
  Array.from({ length }, () => [...letters][Math.floor(random() * [...letters].length)]).join("");
const rows = (count: number, row: () => string, between: string) => Array.from({ length: count }, row).join(between);
const range = (from: number, count: number) => String.fromCodePoint(...Array.from({ length: count }, (_, index) => from + index));

const small = "abcdefghijklmnopqrstuvwxyz";
const digits = "0123456789";
const number = () => (random() * 10 ** Math.floor(random() * 6)).toFixed(Math.floor(random() * 4));
const uuid = () => [8, 4, 4, 4, 12].map((length) => drawn(length, "0123456789abcdef")).join("-");

const nasty: readonly [name: string, text: string, bytesPerToken: number][] = [
  ["numbers in a CSV file", rows(400, () => rows(8, number, ","), "\n"), 1.52],
  ["UUIDs", rows(200, uuid, "\n"), 1.48],
  ["keys in base64", drawn(6_000, `${small}${small.toUpperCase()}${digits}+/`), 1.39],
  ["keys in hexadecimal", drawn(6_000, "0123456789abcdef"), 1.73],
  ["lone digits", rows(2_000, () => drawn(1, digits), " "), 1],
  ["letters and digits by turns", rows(2_000, () => drawn(1, small) + drawn(1, digits), ""), 1],
  ["letters drawn by lot", drawn(6_000, small), 1.86],
  ["capitals drawn by lot", drawn(6_000, small.toUpperCase()), 1.69],
  ["both drawn by lot", drawn(6_000, small + small.toUpperCase()), 1.51],
  ["short words drawn by lot", rows(2_000, () => drawn(3, small), " "), 2.08],
  ["words drawn by lot", rows(2_000, () => drawn(5, small), " "), 2.05],
  ["long words drawn by lot", rows(2_000, () => drawn(12, small), " "), 1.95],
  ["names drawn by lot", rows(2_000, () => drawn(1, small.toUpperCase()) + drawn(4, small), " "), 1.95],
  ["words in camel case", rows(2_000, () => drawn(1, small.toUpperCase()) + drawn(1, small), ""), 1.26],
  ["lone letters", rows(2_000, () => drawn(1, small), " "), 2],
  ["lone letters with points", rows(2_000, () => drawn(1, small), "."), 1],
  ["letters with accents", rows(2_000, () => drawn(5, "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœšžčřđłńśźżąęő"), " "), 1.94],
  ["Russian letters drawn by lot", rows(2_000, () => drawn(6, "абвгдежзийклмнопрстуфхцчшщъыьэюя"), " "), 2.27],
  ["Greek letters drawn by lot", rows(2_000, () => drawn(6, "αβγδεζηθικλμνξοπρστυφχψω"), " "), 1.62],
  ["Arabic letters drawn by lot", rows(2_000, () => drawn(6, "ابتثجحخدذرزسشصضطظعغفقكلمنهوي"), " "), 1.67],
  ["Thai letters drawn by lot", drawn(4_000, range(0xe01, 46)), 1.52],
  ["Hiragana drawn by lot", drawn(4_000, range(0x3041, 86)), 2.01],
  ["Amharic letters drawn by lot", drawn(3_000, range(0x1200, 300)), 1],
  ["Gothic letters drawn by lot", drawn(2_000, range(0x10330, 26)), 1],
  ["emoji", drawn(2_000, range(0x1f300, 700)), 1.38],
  ["signs", drawn(4_000, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"), 1.51],
  ["letters with many marks", rows(1_000, () => drawn(1, small) + drawn(5, range(0x300, 70)), ""), 1.02],
  ["white space", drawn(4_000, " \t\n\r"), 2.02],
  ["lines of one space", " \n".repeat(2_000), 4],
];

describe("of a text that has many tokens, at least as many are counted:", () => {
  it.each(nasty)("%s", (_name, text, bytesPerToken) => {
    const bytes = Buffer.byteLength(text);
    expect(countTokens(text)).toBeGreaterThanOrEqual(Math.floor(bytes / bytesPerToken));
    expect(countTokens(text) * mostTokensPerCounted).toBeGreaterThanOrEqual(bytes);
  });
});

it("a number has a token for each digit, as Google and Mistral count them", () => {
  expect(countTokens(digits.repeat(100))).toBe(1_000);
});

/** Bytes in what we count as one token. */
it.each([
  ["We lay mosaics for courtyards and bathrooms, and answer every letter within two days.", 1.5],
  ["Wir verlegen Mosaike in Höfen und Bädern und beantworten jeden Brief innerhalb von zwei Tagen.", 1.5],
  ["Мы укладываем мозаику во дворах и ванных и отвечаем на каждое письмо за два дня.", 1.5],
  ["我们为庭院和浴室铺设马赛克，并在两天内回复每一封信。", 1.8],
  ["中庭や浴室にモザイクを敷き、お手紙にはすべて二日以内にお返事します。", 1.8],
])("words take little of a model's room: %s", (text, leastBytes) => {
  expect(Buffer.byteLength(text) / countTokens(text)).toBeGreaterThan(leastBytes);
});

test("a prompt of the longest length in any of our languages has room in every model", () => {
  for (const text of ["词", "単語、", "слово ", "Wörter ", "words "]) {
    const prompt = [...text.repeat(limits.promptMax)].slice(0, limits.promptMax).join("");
    expect(countTokens(prompt)).toBeLessThan(15_100);
  }
});

test("of a table of numbers a model reads a beginning that has as many tokens as bytes, and of words a longer one", () => {
  const model = findModel("claude-haiku-5-5") ?? expect.fail();
  const readingOf = (text: string, tokenEnds: number[] | null) => {
    const { length } = text;
    const file: Attachable = {
      ...{ name: "a.csv", contentType: "text/plain", bytes: length, pages: null, textBytes: length, pageEnds: null, tokenEnds },
    };
    const [reading] = readAttachments(model, 0, [file]);
    return typeof reading === "object" ? reading : expect.fail();
  };
  const counted = (text: string) => readingOf(text, countPieces(piecesOf(Buffer.from(text))));
  const table = rows(30_000, number, ",").slice(0, 240_000);
  const { textBytes, tokens, cut } = counted(table);
  expect(tokens).toBeLessThanOrEqual(model.inputTokenLimit);
  expect([cut, textBytes]).toEqual([true, expect.closeTo(model.inputTokenLimit, -3)]);
  expect(countTokens(table.slice(0, textBytes))).toBeLessThanOrEqual(tokens);
  expect(counted("words of a letter ".repeat(13_000)).textBytes).toBeGreaterThan(1.6 * model.inputTokenLimit);
  // A file stored before tokens were counted has at most one token for each byte.
  expect(readingOf(table, null).textBytes).toBeLessThanOrEqual(model.inputTokenLimit);
});
