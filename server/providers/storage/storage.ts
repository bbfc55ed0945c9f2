/** The file storage. Each file beside this one implements one kind of storage; deps.ts chooses one. */
import type { Readable } from "node:stream";
import { PermanentFailure } from "#domain/errors.ts";

/** Both ends are included, as in HTTP (RFC 9110 §14.1.2). Counted in bytes from 0. */
export interface ByteRange {
  first: number;
  last: number;
}

export interface StoredFile {
  /** The size of the whole file, whatever range was asked for. */
  bytes: number;
  /** Read it to the end or destroy it: it has the file open. */
  content: Readable;
}

/**
 * The caller makes the names, each with at least 120 random bits (`randomUUID()`), so that nobody can guess the name of another
 * person's file. Every call within a transaction is refused, and so is every name that `assertFileName` does not know.
 */
export interface FileStorage {
  /**
   * Stores `content` and returns its size in bytes. Once the call has returned, the whole file is there and survives a crash. Before that
   * there is no such file. A file of the same name is replaced. Throws FileTooLarge at the first byte above `maximumBytes`.
   */
  put(name: string, content: AsyncIterable<Uint8Array>, maximumBytes: number): Promise<number>;
  /** Undefined if there is no such file. */
  get(name: string, range?: ByteRange): Promise<StoredFile | undefined>;
  exists(name: string): Promise<boolean>;
  /** Does nothing if there is no such file. */
  delete(name: string): Promise<void>;
  /** Throws unless files can be stored now. */
  check(): Promise<void>;
}

export class FileTooLarge extends PermanentFailure {
  override readonly name = "FileTooLarge";
}

/** The same content, up to its first byte above the limit, where it throws FileTooLarge. */
export function bounded(maximumBytes: number) {
  return async function* (content: AsyncIterable<Uint8Array>) {
    let bytes = 0;
    for await (const chunk of content) {
      bytes += chunk.length;
      if (bytes > maximumBytes) throw new FileTooLarge(`the file has more than ${maximumBytes} bytes`);
      yield chunk;
    }
  };
}

/** Lower case, because some file systems don't tell the cases apart; no dot and no slash, so that no name leads out of a folder. */
const fileName = /^[a-z\d][a-z\d-]{21,63}$/;

export function assertFileName(name: string): void {
  if (!fileName.test(name)) throw new Error("a stored file's name has 22 to 64 characters from a to z, 0 to 9 and -");
}
