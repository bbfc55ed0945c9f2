/** The frames of chat completions. */
import type { Answer, Frames } from "./answer.ts";
import { filterResults, filterWord } from "./filter-words.ts";

/** `completionTokens` includes the thinking tokens. xAI counts those apart from the completion tokens. */
function usageOf({ promptTokens, thinkingTokens, provider }: Answer, completionTokens: number): object {
  const details = thinkingTokens === 0 ? {} : { completion_tokens_details: { reasoning_tokens: thinkingTokens } };
  const counted = provider === "xai" ? completionTokens - thinkingTokens : completionTokens;
  return { prompt_tokens: promptTokens, completion_tokens: counted, total_tokens: promptTokens + completionTokens, ...details };
}

const finishReasons = { complete: "stop", length: "length", content_filter: "content_filter", tool_calls: "tool_calls" } as const;

/** If a filter stopped the answer, Google sends its own word for the reason as the finish reason. */
const finishOf = ({ finish, provider, fault }: Answer) =>
  (finish === "content_filter" && provider === "google" && filterWord("google", fault)) || finishReasons[finish];

export function chatFrames(answer: Answer): Frames {
  const head = `data: {"id":${JSON.stringify(answer.id)},"object":"chat.completion.chunk","created":${answer.createdSeconds},"model":${JSON.stringify(answer.model)},"system_fingerprint":"sandbox",`;
  // Mistral sends the usage in the frame that has the finish reason.
  const isMistral = answer.provider === "mistral";
  const tail = answer.includeUsage && !isMistral ? `,"usage":null}\n\n` : "}\n\n";
  const delta = (content: string, finishReason: string | null, filters?: object) => {
    const results = filters ? `,"content_filter_results":${JSON.stringify(filters)}` : "";
    return `${head}"choices":[{"index":0,"delta":${content},"logprobs":null,"finish_reason":${JSON.stringify(finishReason)}${results}}]${tail}`;
  };
  // DeepSeek and xAI also stream what their models think.
  const shown = answer.thinkingTokens > 0 && answer.provider !== "openai";
  return {
    begin: () =>
      delta('{"role":"assistant","content":"","refusal":null}', null) +
      (shown ? delta('{"content":null,"reasoning_content":"The sandbox thinks."}', null) : ""),
    token: (token) => delta(`{"content":${JSON.stringify(token)}}`, null),
    end(completionTokens, withUsage) {
      const annotations = answer.sources.map(({ url, title }) => ({ type: "url_citation", url_citation: { url, title } }));
      const cited = annotations.length === 0 ? "" : delta(JSON.stringify({ annotations }), null);
      const finish = cited + delta("{}", finishOf(answer), answer.provider === "openai" ? filterResults(answer.fault) : undefined);
      if (!withUsage) return finish;
      if (isMistral)
        return `${finish.slice(0, -tail.length)},"usage":${JSON.stringify(usageOf(answer, completionTokens))}${tail}data: [DONE]\n\n`;
      const usage = `${head}"choices":[],"usage":${JSON.stringify(usageOf(answer, completionTokens))}}\n\n`;
      return `${finish}${answer.includeUsage ? usage : ""}data: [DONE]\n\n`;
    },
    whole(completionTokens, withUsage) {
      const message = { role: "assistant", content: answer.tokens.join(""), refusal: null };
      return {
        id: answer.id,
        object: "chat.completion",
        created: answer.createdSeconds,
        model: answer.model,
        system_fingerprint: "sandbox",
        choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer) }],
        ...(withUsage ? { usage: usageOf(answer, completionTokens) } : {}),
      };
    },
  };
}
