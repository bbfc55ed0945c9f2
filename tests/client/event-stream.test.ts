import { describe, expect, it } from "vitest";
import type { ServerSentEvent } from "#client/lib/event-stream.ts";
import { createEventStreamParser, readEventStream } from "#client/lib/event-stream.ts";

const stream =
  ': hello\n\nid: 1\nevent: start\ndata: {"a":1}\n\n' +
  'id:2\r\nevent: delta\r\ndata: {"text":"naïve 東京 👩‍🚀"}\r\n\r\n' +
  "retry: 10\nid: 3\ndata: two\ndata:  lines\ndata\n\n:\n\n";
const events: ServerSentEvent[] = [
  { event: "start", data: '{"a":1}', id: "1" },
  { event: "delta", data: '{"text":"naïve 東京 👩‍🚀"}', id: "2" },
  { event: "message", data: "two\n lines\n", id: "3" },
];

function bodyOf(...chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

async function readAll(body: ReadableStream<Uint8Array>): Promise<ServerSentEvent[]> {
  const all: ServerSentEvent[] = [];
  for await (const event of readEventStream(body, 1_000)) all.push(event);
  return all;
}

describe("server-sent events", () => {
  it("come out the same wherever the bytes are cut, inside a character too", async () => {
    const bytes = new TextEncoder().encode(stream);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(await readAll(bodyOf(bytes.slice(0, cut), bytes.slice(cut)))).toEqual(events);
    }
  });

  it("come out the same byte by byte", async () => {
    const bytes = new TextEncoder().encode(stream);
    expect(await readAll(bodyOf(...[...bytes].map((byte) => Uint8Array.of(byte))))).toEqual(events);
  });

  it("never yields an event that the end of the stream cut off", () => {
    const parse = createEventStreamParser();
    expect(parse('id: 1\ndata: whole\n\nid: 2\ndata: {"text":"ha')).toEqual([{ event: "message", data: "whole", id: "1" }]);
    expect(parse('lf"}\n')).toEqual([]);
  });

  it("takes a byte order mark for no part of the first field, and a lone CR for a line's end", () => {
    const parse = createEventStreamParser();
    expect(parse("\uFEFFdata: a\r\rdata: b\r\r")).toEqual([{ event: "message", data: "a", id: "" }]);
    expect(parse("\n")).toEqual([{ event: "message", data: "b", id: "" }]);
  });

  it("gives up on a connection that says nothing any more, and lets go of it", async () => {
    let cancelled = false;
    const silent = new ReadableStream<Uint8Array>({
      cancel() {
        cancelled = true;
      },
    });
    await expect(readEventStream(silent, 20).next()).rejects.toMatchObject({ name: "TimeoutError" });
    expect(cancelled).toBe(true);
  });
});
