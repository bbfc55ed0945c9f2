/** Server-sent events read by fetch, since EventSource can neither send a bearer nor a body (WHATWG HTML §9.2.6). */
export interface ServerSentEvent {
  event: string;
  data: string;
  /** The last id seen so far: it is what Last-Event-ID carries when the stream is resumed. */
  id: string;
}

/**
 * An incremental parser: give it text as it arrives, cut anywhere, and it returns the events that are complete. An event
 * cut off by the end of the stream is dropped, as the standard asks, so it is never shown half and then again.
 */
export function createEventStreamParser(): (chunk: string) => ServerSentEvent[] {
  let buffer = "";
  let started = false;
  let event = "";
  let data: string[] = [];
  let id = "";

  function takeLine(): string | undefined {
    const end = buffer.search(/[\r\n]/);
    if (end < 0) return undefined;
    // A trailing CR may be half of a CRLF: wait for the next chunk to tell.
    if (buffer[end] === "\r" && end === buffer.length - 1) return undefined;
    const line = buffer.slice(0, end);
    buffer = buffer.slice(end + (buffer[end] === "\r" && buffer[end + 1] === "\n" ? 2 : 1));
    return line;
  }

  function takeField(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "event") event = value;
    else if (name === "data") data.push(value);
    else if (name === "id" && !value.includes("\0")) id = value;
  }

  return (chunk) => {
    buffer += chunk;
    if (!started && buffer.length > 0) {
      started = true;
      if (buffer.startsWith("\uFEFF")) buffer = buffer.slice(1);
    }
    const events: ServerSentEvent[] = [];
    for (let line = takeLine(); line !== undefined; line = takeLine()) {
      if (line !== "") takeField(line);
      else {
        if (data.length > 0) events.push({ event: event || "message", data: data.join("\n"), id });
        event = "";
        data = [];
      }
    }
    return events;
  };
}

/**
 * The events of a response's body, until it ends. Throws what the reader throws when the connection breaks, and a
 * TimeoutError when nothing at all, not even a comment, arrives for `silenceMs`: a phone's connection often dies unsaid.
 */
export async function* readEventStream(body: ReadableStream<Uint8Array>, silenceMs: number): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parse = createEventStreamParser();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new DOMException("nothing arrived", "TimeoutError")), silenceMs);
      });
      const { done, value } = await Promise.race([reader.read(), silence]);
      clearTimeout(timer);
      if (done) return;
      yield* parse(decoder.decode(value, { stream: true }));
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
    void letGo(reader);
  }
}

/** How long a stream that nobody reads any more may take to end by itself. */
const endsWithinMs = 1_000;

/**
 * The rest of a stream nobody reads must not keep its connection. One that is about to end is left to it: cancelled, a request
 * that went well counts as aborted.
 */
async function letGo(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), endsWithinMs);
  try {
    while (!(await reader.read()).done);
  } catch {
    // A broken stream has ended as well.
  } finally {
    clearTimeout(timer);
  }
}
