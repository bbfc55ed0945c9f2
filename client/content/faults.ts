/** An error in a text, with its place. It stops the build. */
export class ContentFault extends Error {
  readonly file: string;
  readonly line: number;

  constructor(file: string, line: number, message: string) {
    super(`${file}:${line}: ${message}`);
    this.file = file;
    this.line = line;
  }
}

/** An error in one passage. `near` is a part of the source from which the compiler finds the line. */
export class TextFault extends Error {
  readonly near: string;

  constructor(message: string, near: string) {
    super(message);
    this.near = near;
  }
}
