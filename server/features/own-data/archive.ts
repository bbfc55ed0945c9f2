/**
 * Writes an export: a zip file of JSON files, the person's picture, their files and a README. It is read and compressed as it is written, so its size does not
 * matter to memory.
 */
import { Readable } from "node:stream";
import { ZipFile } from "yazl";
import type { AvatarSize } from "#domain/avatars.ts";
import { avatarSizes } from "#domain/avatars.ts";
import { DomainError } from "#domain/errors.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { openOwnPicture } from "../account/avatars.ts";
import { allFiles, openFile } from "../files/service.ts";
import type { Place, Section } from "./section.ts";
import { pageOf, pageSize } from "./section.ts";
import { sections } from "./sections.ts";

/** The names of the picture's files. */
export const pictureFiles: Readonly<Record<AvatarSize, string>> = { large: "picture.webp", small: "picture-small.webp" };

async function* jsonOf(executor: Executor, section: Section, userId: string, signal: AbortSignal): AsyncGenerator<string> {
  yield "[";
  let after: Place | undefined;
  let separator = "\n";
  for (;;) {
    signal.throwIfAborted();
    const page: { rows: (Place & { item: unknown })[] } = await pageOf(section, userId, after).execute(executor);
    for (const { item } of page.rows) {
      yield separator + JSON.stringify(item);
      separator = ",\n";
    }
    if (page.rows.length < pageSize) break;
    after = page.rows.at(-1);
  }
  yield "\n]\n";
}

/** The README of the zip documents its format, so that the file can still be understood when the product no longer exists. */
function readmeOf(site: string, madeAt: Date): string {
  const files = sections.map(({ name, describes }) => `- ${name}.json: ${describes}`);
  const pictures = `- ${pictureFiles.large}, ${pictureFiles.small}: your picture, if you chose one, as we keep it: ${avatarSizes.large} and ${avatarSizes.small} pixels wide.`;
  return [
    `# Your data at ${site}`,
    `Made on ${madeAt.toISOString()}. Rows that changed while the file was made are in it as they were before or after the change.`,
    "Every .json file is in UTF-8: one array, with one object on each line. Times are RFC 3339. Amounts of money are in cents, credits are whole numbers. Ids connect the files.",
    "## Files",
    [...files, pictures, "- files/: the files themselves. `files.json` says which is which."].join("\n"),
    "## What is not here",
    "Secrets (passwords, tokens) are not exported; we have only hashes of them. Invoices as PDF and card details are with Stripe. What only your browser keeps (drafts, theme, consent) is in your browser.",
    "",
  ].join("\n\n");
}

/** A file as it was stored. One that is deleted while the export is made is empty. */
async function* bytesOf(deps: Pick<Deps, "db" | "storage">, userId: string, id: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted();
  try {
    yield* (await openFile(deps, userId, id)).content;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
}

/**
 * The zip file as a stream. If a row or file can't be read the stream fails. Once `signal` is aborted no further page is read, and the stream
 * fails. Throws if a file of the picture is lost.
 */
export async function writeArchive(
  deps: Pick<Deps, "db" | "storage">,
  { userId, site, madeAt }: { userId: string; site: string; madeAt: Date },
  signal: AbortSignal,
): Promise<Readable> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const mtime = madeAt;
  const add = (name: string, open: () => Readable, compress = true) =>
    zip.addReadStreamLazy(name, { mtime, compress }, (give) => {
      const content = open();
      content.on("error", (error) => output.destroy(error));
      give(null, content);
    });
  zip.on("error", (error: Error) => output.destroy(error));
  zip.addBuffer(Buffer.from(readmeOf(site, madeAt)), "README.md", { mtime });
  // The picture comes first, so that its files are not open for long.
  for (const { size, content } of await openOwnPicture(deps, userId)) {
    output.once("close", () => content.destroy());
    add(pictureFiles[size], () => content);
  }
  for (const section of sections)
    add(`${section.name}.json`, () => Readable.from(jsonOf(deps.db, section, userId, signal), { objectMode: false }));
  // Most of them are compressed already.
  for await (const { id, name } of allFiles(deps.db, userId))
    add(`files/${id}-${name}`, () => Readable.from(bytesOf(deps, userId, id, signal), { objectMode: false }), false);
  zip.end();
  return output;
}
