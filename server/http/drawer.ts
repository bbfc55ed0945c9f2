/**
 * Draws the public pages when no edition of the build has today's models: some are switched off or have other prices, or the operator has
 * added some. The program that draws (client/drawing.ts) runs in a thread of its own, so that no answer waits for it. The thread ends when
 * nothing was asked for for a while (decision 86).
 */
import { Worker } from "node:worker_threads";

/** The models that the program draws pages for (client/lib/shown-edition.ts). */
export interface ShownModels {
  edition: string;
  /** Ids of the edition's models that are switched off. */
  off: readonly string[];
  own: readonly object[];
  /** The ids of those that have ended. */
  ended?: readonly string[];
  /** Prices in credits that differ from the catalogue's, by the models' ids. */
  prices: Readonly<Record<string, number>>;
}

/** A message to the thread, and its reply. */
export interface DrawRequest {
  id: number;
  file: string;
}
export type Drawn = { id: number; document: string } | { id: number; error: string };

interface Waiting {
  resolve: (document: string) => void;
  reject: (error: Error) => void;
}

const idleMs = 60_000;
/** How long the thread may take for the next page, including its own start. After that it is ended. */
const usualPatienceMs = 15_000;

export class Drawer {
  private readonly folder: URL;
  private readonly models: ShownModels;
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private asked = 0;
  /** Ends the thread when nothing is asked for a while, or when no reply comes. */
  private timer: NodeJS.Timeout | undefined;
  private readonly patienceMs: number;
  private isLeft = false;

  /** `folder` is that of the built client. */
  constructor(folder: URL, models: ShownModels, patienceMs = usualPatienceMs) {
    this.folder = folder;
    this.models = models;
    this.patienceMs = patienceMs;
  }

  private start(): Worker {
    const workerData = { folder: this.folder.href, models: this.models };
    const worker = new Worker(new URL("draw-thread.ts", import.meta.url), { workerData });
    worker.unref();
    worker.on("message", (drawn: Drawn) => {
      const waiting = this.waiting.get(drawn.id);
      this.waiting.delete(drawn.id);
      if ("document" in drawn) waiting?.resolve(drawn.document);
      else waiting?.reject(new Error(drawn.error));
      this.watch();
    });
    worker.on("error", (error) => this.end(worker, error));
    worker.on("exit", () => this.end(worker, new Error("the thread that draws pages has ended")));
    return worker;
  }

  private end(worker: Worker, error: unknown): void {
    if (worker !== this.worker) return;
    this.worker = undefined;
    for (const { reject } of this.waiting.values()) reject(error instanceof Error ? error : new Error(String(error)));
    this.waiting.clear();
  }

  private watch(): void {
    clearTimeout(this.timer);
    const isIdle = this.waiting.size === 0;
    const message = isIdle ? "nothing was to be drawn" : "the thread that draws pages does not answer";
    const afterMs = !isIdle ? this.patienceMs : this.isLeft ? 0 : idleMs;
    this.timer = setTimeout(() => this.close(message), afterMs).unref();
  }

  /** `file` is the page's in the build, such as `pages/en/index.html`. Rejects if it can't be drawn. */
  draw(file: string): Promise<string> {
    this.worker ??= this.start();
    const request: DrawRequest = { id: this.asked++, file };
    this.worker.postMessage(request);
    const drawn = new Promise<string>((resolve, reject) => this.waiting.set(request.id, { resolve, reject }));
    if (this.waiting.size === 1) this.watch();
    return drawn;
  }

  /** Called when pages are to show other models from now on. Pages that were asked for are still drawn. */
  leave(): void {
    this.isLeft = true;
    this.watch();
  }

  close(message = "the pages are no longer drawn"): void {
    clearTimeout(this.timer);
    const worker = this.worker;
    if (!worker) return;
    this.end(worker, new Error(message));
    void worker.terminate();
  }
}
