/** The thread that draws pages (drawer.ts), with the program that the build has put beside them. */
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type { Drawn, DrawRequest, ShownModels } from "./drawer.ts";

interface Program {
  openDrawing(site: string): Promise<{
    places: ReadonlyMap<string, unknown>;
    show(models: ShownModels): void;
    draw(place: unknown): Promise<{ document: string }>;
  }>;
}

async function open({ folder, models }: { folder: string; models: ShownModels }) {
  const program = (await import(new URL("drawing/drawing.mjs", folder).href)) as Program;
  const drawing = await program.openDrawing(fileURLToPath(folder));
  drawing.show(models);
  return drawing;
}

const opening = open(workerData as Parameters<typeof open>[0]);

async function draw(file: string): Promise<string> {
  const drawing = await opening;
  const place = drawing.places.get(file);
  if (!place) throw new Error(`there is no ${file} to draw`);
  return (await drawing.draw(place)).document;
}

/** Draws one page after another, because the program collects data of a page while it draws it, and two pages would mix. */
let last: Promise<void> = Promise.resolve();
parentPort?.on("message", ({ id, file }: DrawRequest) => {
  last = last.then(async () => {
    const drawn: Drawn = await draw(file).then(
      (document) => ({ id, document }),
      (error: unknown) => ({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
    parentPort?.postMessage(drawn);
  });
});
