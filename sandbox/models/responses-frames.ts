/** The frames of Responses. Perplexity has events of its own for a search; OpenAI has items, and citations within the text. */
import type { Answer, Frames } from "./answer.ts";
import { filterResults } from "./filter-words.ts";
import type { FoundSource } from "./search.ts";

/** How a response ends. One whose model wants a tool is `incomplete`, with a reason that the product does not expect. */
function endOf({ finish }: Answer) {
  const incomplete = { length: "max_output_tokens", content_filter: "content_filter", tool_calls: "max_messages" } as const;
  if (finish === "complete") return { type: "response.completed", status: "completed", incomplete_details: null };
  return { type: "response.incomplete", status: "incomplete", incomplete_details: { reason: incomplete[finish] } };
}

class ResponseFrames implements Frames {
  private sequence = 0;
  private outputIndex = 0;
  private readonly answer: Answer;
  private readonly itemId: string;

  constructor(answer: Answer) {
    this.answer = answer;
    this.itemId = answer.id.replace(/^resp/, "msg");
  }

  begin(): string {
    const { answer } = this;
    const going = this.response("in_progress", []);
    return (
      this.event("response.created", { response: going }) +
      this.event("response.in_progress", { response: going }) +
      (answer.thinkingTokens > 0 ? this.item({ id: answer.id.replace(/^resp/, "rs"), type: "reasoning", summary: [] }) : "") +
      (answer.sources.length > 0 ? this.search(answer.sources) : "") +
      this.event("response.output_item.added", { output_index: this.outputIndex, item: this.message("in_progress", "") }) +
      this.event("response.content_part.added", { ...this.place(), part: { type: "output_text", text: "", annotations: [] } })
    );
  }

  token(token: string): string {
    return this.event("response.output_text.delta", { ...this.place(), delta: token, logprobs: [] });
  }

  end(completionTokens: number, withUsage: boolean): string {
    const text = this.answer.tokens.join("");
    const { type, status, incomplete_details } = endOf(this.answer);
    const item = this.message("completed", text);
    const results = this.answer.provider === "openai" ? filterResults(this.answer.fault) : undefined;
    const filters = results && { content_filters: [{ blocked: true, source_type: "completion", content_filter_results: results }] };
    const usage = withUsage ? this.usage(completionTokens) : null;
    const response = { ...this.response(status, [item]), incomplete_details, ...filters, usage };
    return (
      this.citations(text) +
      this.event("response.output_text.done", { ...this.place(), text, logprobs: [] }) +
      this.event("response.output_item.done", { output_index: this.outputIndex, item }) +
      this.event(type, { response })
    );
  }

  private event(type: string, fields: object): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.sequence++, ...fields })}\n\n`;
  }

  private item(item: object): string {
    const fields = { output_index: this.outputIndex++, item };
    return this.event("response.output_item.added", fields) + this.event("response.output_item.done", fields);
  }

  private search(sources: readonly FoundSource[]): string {
    const { answer } = this;
    if (answer.provider === "perplexity") {
      const results = sources.map((source, index) => ({ id: index + 1, snippet: "", source: "web", ...source }));
      return (
        this.event("response.reasoning.search_queries", { queries: [answer.query] }) +
        this.event("response.reasoning.search_results", { results }) +
        this.item({ type: "search_results", queries: [answer.query], results })
      );
    }
    const id = answer.id.replace(/^resp/, "ws");
    const place = { output_index: this.outputIndex, item_id: id };
    return (
      this.event("response.web_search_call.searching", place) +
      this.event("response.web_search_call.completed", place) +
      this.item({ id, type: "web_search_call", status: "completed", action: { type: "search", query: answer.query } })
    );
  }

  private citations(text: string): string {
    const { provider, sources } = this.answer;
    if (provider === "perplexity") return "";
    return sources
      .map(({ url, title }, index) => {
        const start = Math.max(text.indexOf(url), 0);
        const annotation = { type: "url_citation", start_index: start, end_index: start + url.length, url, title };
        return this.event("response.output_text.annotation.added", { ...this.place(), annotation_index: index, annotation });
      })
      .join("");
  }

  private place() {
    return { item_id: this.itemId, output_index: this.outputIndex, content_index: 0 };
  }

  private message(status: string, text: string): object {
    const content = status === "completed" ? [{ type: "output_text", text, annotations: [] }] : [];
    return { id: this.itemId, type: "message", status, role: "assistant", content };
  }

  private response(status: string, output: readonly object[]): object {
    const { id, createdSeconds, model } = this.answer;
    return {
      id,
      object: "response",
      created_at: createdSeconds,
      status,
      error: null,
      incomplete_details: null,
      model,
      output,
      usage: null,
    };
  }

  private usage(completionTokens: number): object {
    const { promptTokens, thinkingTokens, provider, sources } = this.answer;
    const searches = sources.length > 0 ? 1 : 0;
    return {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: thinkingTokens },
      total_tokens: promptTokens + completionTokens,
      ...(provider === "perplexity" ? { tool_calls_details: { web_search: { invocation: searches } } } : {}),
    };
  }
}

export const responseFrames = (answer: Answer): Frames => new ResponseFrames(answer);
