import { createHash } from "node:crypto";
import { blockFor, closing, opening, sentences } from "./reply-parts.ts";
import type { AskedMessage } from "./requests.ts";
import { splitTokens } from "./tokens.ts";

const stopWords = new Set(
  "about above after again also because been before being below between both could does doing down each every from have having here into just like make more most much only other over please same should some such than that their them then there these they this those through under until very want were what when where which while will with would write your explain give tell need show know answer short brief long detailed table list code compare comparison steps please function script example python typescript javascript bash shell query reads".split(
    " ",
  ),
);

const headings = ["A closer look at", "What to watch in", "Going on with"];

/** A pseudo-random sequence that depends only on `seed`, so that the same conversation gets the same answer. */
export function seededChoices(seed: string): (count: number) => number {
  let state = createHash("sha256").update(seed).digest().readUInt32LE(0);
  return (count) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
}

function keywordsOf(prompt: string): string[] {
  const words =
    prompt
      .slice(0, 4_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]{4,24}/gu) ?? [];
  return [...new Set(words)].filter((word) => !stopWords.has(word)).slice(0, 8);
}

/** The first words of a text on one line, without characters that mean something in Markdown. */
export function quoteTopic(text: string): string {
  const plain = text
    .replace(/[`*_<>[\]|#\\]/g, "")
    .replace(/\s+/g, " ")
    .trim();
  const points = [...plain];
  return points.length > 60 ? `${points.slice(0, 60).join("").trimEnd()}…` : plain;
}

const longestReplyTokens = 400;

/** The intended number of tokens of the whole answer; shorter or longer if the prompt asks for it. */
function targetTokens(prompt: string, choose: (count: number) => number): number {
  if (/\b(long|detailed|in depth|essay|thorough)\b/i.test(prompt)) return longestReplyTokens;
  if (/\b(short|brief|briefly|one sentence|in a word)\b/i.test(prompt)) return 0;
  return 110 + choose(190);
}

function historyLine(messages: readonly AskedMessage[]): string {
  const questions = messages.filter((message) => message.role === "user");
  const count = messages.length === 1 ? "1 message" : `${messages.length} messages`;
  const earlier = questions.at(-2);
  if (earlier === undefined) return `I was given ${count}; this one opens our conversation.`;
  return `I was given ${count}; before this one you asked about “${quoteTopic(earlier.text)}”.`;
}

/** Files that the product sends as text. */
const document = /\[Attached file "([^"\n]*)"[^\]\n]*\]\n([\s\S]*?)\[End of the attached file\]\s*/g;

/** The question itself, and the files that came with it. */
function apart(message: AskedMessage | undefined): { words: string; given: string[] } {
  const { text = "", seen = [] } = message ?? {};
  const documents = [...text.matchAll(document)].map(
    ([, name, words = ""]) => `${quoteTopic(name ?? "")} (${words.trim().length} characters)`,
  );
  return { words: text.replace(document, "").trim(), given: [...seen, ...documents] };
}

/** The sandbox's answer to a conversation, in Markdown. It says that it is from the sandbox. The same conversation gets the same answer. */
export function writeReply(modelName: string, messages: readonly AskedMessage[]): string {
  const question = messages.findLast((message) => message.role === "user") ?? messages.at(-1);
  const { words: prompt, given } = apart(question);
  const choose = seededChoices(`${modelName}\n${messages.map((message) => `${message.role}:${message.text}`).join("\n")}`);
  const keywords = keywordsOf(prompt);
  let turn = choose(8);
  const word = (): string => keywords[turn++ % keywords.length] ?? "this";
  const marker = `*Sandbox answer, written on this machine in place of ${modelName}.*`;
  const files = given.length === 0 ? undefined : `With your question came ${given.join(", ")}.`;
  const head = [marker, files, opening(quoteTopic(prompt), word, choose), blockFor(prompt, keywords, choose)].filter(
    (part) => part !== undefined,
  );
  const target = targetTokens(prompt, choose);
  const end = target === 0 ? historyLine(messages) : `${historyLine(messages)} ${closing(choose)}`;
  const room = target - splitTokens([...head, end].join("\n\n")).length;
  return [...head, ...paragraphs(room, word, choose), end].join("\n\n");
}

/** Paragraphs of three sentences up to `roomTokens`; in a long answer each has a heading. */
function paragraphs(roomTokens: number, word: () => string, choose: (count: number) => number): string[] {
  const result: string[] = [];
  const unused = [...sentences];
  let left = roomTokens;
  while (unused.length >= 3) {
    const heading = result.length === 0 ? "Where to begin with" : (headings[result.length % headings.length] ?? "");
    const chosen = [0, 1, 2].map(() => unused.splice(choose(unused.length), 1)[0]?.(word()) ?? "");
    const paragraph = roomTokens > 130 ? `## ${heading} ${word()}\n\n${chosen.join(" ")}` : chosen.join(" ");
    left -= splitTokens(paragraph).length;
    if (left < 0) break;
    result.push(paragraph);
  }
  return result;
}
