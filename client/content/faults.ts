/** What is wrong with a text, and where: the build stops with it. */
export class ContentFault extends Error {
  readonly file: string;
  readonly line: number;

  constructor(file: string, line: number, message: string) {
    super(`${file}:${line}: ${message}`);
    this.file = file;
    this.line = line;
  }
}

/** A fault of one passage. `near` is some of its source, by which the compiler finds the line. */
export class TextFault extends Error {
  readonly near: string;

  constructor(message: string, near: string) {
    super(message);
    this.near = near;
  }
}
