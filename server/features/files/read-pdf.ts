/**
 * The text of a PDF, page by page. A PDF is a program for a page, and may be made to take all time and memory there is. So it is read in a
 * thread with limits of both, few at once, and ended when it passes one.
 */
import { Worker } from "node:worker_threads";
import { attachmentLimits } from "#domain/attachments.ts";
import { Gate } from "../../http/gate.ts";

export interface PdfAsked {
  bytes: Uint8Array;
  maximumPages: number;
  maximumTextBytes: number;
}

/** `pageEnds`: where the text of each page ends, in bytes, and `tokenEnds`, in tokens. Pages beyond the limit of the text have none. */
export type PdfRead =
  | { text: string; pageEnds: number[]; tokenEnds: number[]; pages: number }
  | { fault: "pages" | "encrypted" | "damaged" | "exhausting" };

const timeLimitMs = 15_000;
const heapMegabytes = 192;
/** Buffers are outside of the heap. What a stream in the file unpacks to is in them. */
const buffersBytes = 256 * 1024 * 1024;
const lookEveryMs = 25;
const gate = new Gate(2);

async function runThread(asked: PdfAsked): Promise<PdfRead> {
  const worker = new Worker(new URL("pdf-worker.ts", import.meta.url), {
    workerData: asked,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 32 },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  const exhausted = Promise.withResolvers<PdfRead>();
  const giveUp = () => exhausted.resolve({ fault: "exhausting" });
  const timer = setTimeout(giveUp, timeLimitMs);
  const look = setInterval(async () => {
    const heap = await worker.getHeapStatistics().catch(() => undefined);
    if (heap && heap.external_memory > buffersBytes) giveUp();
  }, lookEveryMs);
  const read = new Promise<PdfRead>((resolve) => {
    worker.once("message", resolve);
    // Above its limit of memory the thread ends with an error.
    worker.once("error", (error: NodeJS.ErrnoException) =>
      resolve({ fault: error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "exhausting" : "damaged" }),
    );
    worker.once("exit", () => resolve({ fault: "damaged" }));
  });
  try {
    return await Promise.race([read, exhausted.promise]);
  } finally {
    clearTimeout(timer);
    clearInterval(look);
    await worker.terminate();
  }
}

/** Never throws because of the file. */
export async function readPdf(bytes: Uint8Array): Promise<PdfRead> {
  const { pages, textBytes } = attachmentLimits;
  return gate.inTurn(() => runThread({ bytes, maximumPages: pages, maximumTextBytes: textBytes }));
}
