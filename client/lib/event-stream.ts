/** Reads server-sent events with fetch, because EventSource can't send an authorization header or a body (WHATWG HTML §9.2.6). */
export interface ServerSentEvent {
  event: string;
  data: string;
  /** The last id received so far, to send as Last-Event-ID when the stream is resumed. */
  id: string;
}

/**
 * An incremental parser: pass it chunks of text, cut anywhere, and it returns the complete events. As the standard asks, an
 * event cut off by the end of the stream is dropped; when the stream is resumed it is received whole.
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
    // A trailing CR may be the first half of a CRLF; the next chunk shows whether it is.
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
 * The events of a response's body, until it ends. If the connection breaks, it throws the reader's error. It throws a
 * TimeoutError if nothing, not even a comment, arrives for `silenceMs`, because a phone's connection often dies without an
 * error.
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
    void endStream(reader);
  }
}

/** How long a stream that nobody reads any more gets to end by itself. */
const endsWithinMs = 1_000;

/**
 * Cancels the rest of a stream, which would otherwise keep its connection. First waits a moment for the stream to end by
 * itself, because a cancelled request shows as aborted in the browser although it succeeded.
 */
async function endStream(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), endsWithinMs);
  try {
    while (!(await reader.read()).done);
  } catch {
    // A broken stream has ended too.
  } finally {
    clearTimeout(timer);
  }
}
