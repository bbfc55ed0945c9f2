/** A log of limited size, in two files: when the current one reaches half of the limit it becomes the old one. */
import { closeSync, fstatSync, ftruncateSync, openSync, renameSync, writeSync } from "node:fs";

const logBytesMaximum = 10_000_000;

export class BoundedLog {
  private readonly file: string;
  private descriptor: number;
  private size: number;

  constructor(file: string) {
    this.file = file;
    [this.descriptor, this.size] = this.open();
  }

  private open(): [number, number] {
    const descriptor = openSync(this.file, "a", 0o600);
    const { size } = fstatSync(descriptor);
    if (size <= logBytesMaximum / 2) return [descriptor, size];
    ftruncateSync(descriptor);
    return [descriptor, 0];
  }

  /** Writes synchronously, so that the file has the program's last lines when the program has ended. */
  write(data: Buffer): void {
    try {
      if (this.size > 0 && this.size + data.length > logBytesMaximum / 2) {
        renameSync(this.file, `${this.file}.1`);
        closeSync(this.descriptor);
        [this.descriptor, this.size] = this.open();
      }
      this.size += writeSync(this.descriptor, data);
    } catch {
      // If the log can't be written (a full disk), the database continues without it.
    }
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
