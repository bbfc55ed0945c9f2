/** Reads server-sent events with fetch, because EventSource can't send an authorization header or a body (WHATWG HTML §9.2.6). */
import { createParser } from "eventsource-parser";

export interface ServerSentEvent {
  event: string;
  data: string;
  /** The last id received so far, to send as Last-Event-ID when the stream is resumed. */
  id: string;
}

/**
 * The events of a response's body, until it ends. If the connection breaks, it throws the reader's error. It throws a
 * TimeoutError if nothing, not even a comment, arrives for `silenceMs`, because a phone's connection often dies without an
 * error.
 */
export async function* readEventStream(body: ReadableStream<Uint8Array>, silenceMs: number): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const arrived: ServerSentEvent[] = [];
  let lastId = "";
  const parser = createParser({
    onEvent({ event = "message", data, id = lastId }) {
      lastId = id;
      arrived.push({ event, data, id });
    },
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new DOMException("nothing arrived", "TimeoutError")), silenceMs);
      });
      const { done, value } = await Promise.race([reader.read(), silence]);
      clearTimeout(timer);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* arrived.splice(0);
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
