import { describe, expect, it } from "vitest";
import type { ServerSentEvent } from "#client/lib/event-stream.ts";
import { readEventStream } from "#client/lib/event-stream.ts";

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
  it("are parsed alike wherever the bytes are cut, even inside a character", async () => {
    const bytes = new TextEncoder().encode(stream);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(await readAll(bodyOf(bytes.slice(0, cut), bytes.slice(cut)))).toEqual(events);
    }
  });

  it("are parsed alike byte by byte", async () => {
    const bytes = new TextEncoder().encode(stream);
    expect(await readAll(bodyOf(...[...bytes].map((byte) => Uint8Array.of(byte))))).toEqual(events);
  });

  it("that the end of the stream cuts off are not returned", async () => {
    const cut = new TextEncoder().encode('id: 1\ndata: whole\n\nid: 2\ndata: {"text":"half"}\n');
    expect(await readAll(bodyOf(cut))).toEqual([{ event: "message", data: "whole", id: "1" }]);
  });

  it("without an id keep the last one, from which the stream can be resumed", async () => {
    const bytes = new TextEncoder().encode("id: 7\ndata: a\n\ndata: b\n\n");
    expect((await readAll(bodyOf(bytes))).map(({ id }) => id)).toEqual(["7", "7"]);
  });

  it("may begin with a byte order mark and end lines with a lone CR", async () => {
    const bytes = new TextEncoder().encode("\uFEFFdata: a\r\rdata: b\r\r\n");
    expect((await readAll(bodyOf(bytes))).map(({ data }) => data)).toEqual(["a", "b"]);
  });

  it("end with an error, and their connection is closed, when the connection stays silent too long", async () => {
    let cancelled = false;
    const silent = new ReadableStream<Uint8Array>({
      cancel() {
        cancelled = true;
      },
    });
    await expect(readEventStream(silent, 20).next()).rejects.toMatchObject({ name: "TimeoutError" });
    expect(cancelled).toBe(true);
  });

  it("leave a stream that is not read further to its end, because an aborted request counts as failed, and cancel one that goes on", async () => {
    const outcomes = await Promise.all(
      [true, false].map(async (ends) => {
        const outcome = Promise.withResolvers<string>();
        let pulls = 0;
        const body = new ReadableStream<Uint8Array>({
          async pull(controller) {
            pulls += 1;
            if (pulls === 1) controller.enqueue(new TextEncoder().encode("data: last\n\n"));
            else if (!ends) await new Promise(() => undefined);
            else {
              controller.close();
              outcome.resolve("ended");
            }
          },
          cancel: () => outcome.resolve("cancelled"),
        });
        for await (const _event of readEventStream(body, 5_000)) break;
        return outcome.promise;
      }),
    );
    expect(outcomes).toEqual(["ended", "cancelled"]);
  });
});
