/** What the sandbox's models find on the web: pages that are nowhere, at addresses kept for examples (RFC 2606). */
import { quoteTopic } from "./reply.ts";

export interface FoundSource {
  url: string;
  title: string;
  date: string;
}

export function findSources(prompt: string): FoundSource[] {
  const topic = quoteTopic(prompt) || "this";
  return [
    { url: "https://news.example/sandbox", title: `Sandbox source: a report on “${topic}”`, date: "2026-10-12" },
    { url: "https://encyclopedia.example/sandbox", title: `Sandbox source: “${topic}” explained`, date: "2025-03-04" },
  ];
}

/** Perplexity's text has the numbers of its sources, OpenAI's the addresses. */
export function citing(provider: string, text: string, sources: readonly FoundSource[]): string {
  const marks = sources.map(({ url }, index) => (provider === "perplexity" ? `[${index + 1}]` : `([${new URL(url).host}](${url}))`));
  return marks.length === 0 ? text : `${text} ${marks.join(provider === "perplexity" ? "" : " ")}`;
}
