/** The one way to decode pictures of people: bounded in formats, pixels, time, and how many are decoded at once. */
import type { Sharp, SharpOptions } from "sharp";

/** Decoding one picture takes up to four bytes a pixel, so 160 MB. */
const atOnce = 2;

/** libvips knows many formats, some of which read other files or run scripts. Only these decoders may run. */
const decoders = ["Jpeg", "Png", "Webp", "Heif", "Nsgif"].map((name) => `VipsForeignLoad${name}Buffer`);

export type OpenPicture = (bytes: Uint8Array, options: SharpOptions) => Sharp;

async function loadLibrary(): Promise<OpenPicture> {
  const { default: sharp } = await import("sharp");
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: decoders });
  sharp.cache(false);
  sharp.concurrency(1);
  return sharp;
}

let library: Promise<OpenPicture> | undefined;
let running = 0;
const waiting: (() => void)[] = [];

/** Does `work` when few others are decoded. */
export async function withPictures<T>(work: (open: OpenPicture) => Promise<T>): Promise<T> {
  library ??= loadLibrary();
  const open = await library;
  if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await work(open);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}
