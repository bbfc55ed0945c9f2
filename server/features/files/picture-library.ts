/** The one way to decode pictures of people: bounded in formats, pixels, time, and how many are decoded at once. */
import type { Sharp, SharpOptions } from "sharp";
import { Gate } from "../../http/gate.ts";

/** Decoding one picture takes up to four bytes a pixel, so 160 MB. */
const gate = new Gate(2);

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

/** Runs `work` as soon as fewer than two other pictures are being decoded. */
export async function withPictures<T>(work: (open: OpenPicture) => Promise<T>): Promise<T> {
  library ??= loadLibrary();
  const open = await library;
  return gate.inTurn(() => work(open));
}
