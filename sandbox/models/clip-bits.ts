/** Bits of an H.264 stream (ITU-T H.264 §7.2 and §9.1), and its NAL units (§7.4.1). */

export class BitWriter {
  private bytes = Buffer.alloc(4_096);
  private length = 0;
  private current = 0;
  private filled = 0;

  bits(value: number, count: number): void {
    for (let index = count - 1; index >= 0; index -= 1) {
      this.current = (this.current << 1) | ((value >>> index) & 1);
      this.filled += 1;
      if (this.filled === 8) this.flush();
    }
  }

  /** ue(v): an unsigned number in Exp-Golomb code. */
  unsigned(value: number): void {
    const width = Math.floor(Math.log2(value + 1));
    this.bits(0, width);
    this.bits(value + 1, width + 1);
  }

  /** se(v) of zero, the only signed number that we write. */
  signedZero(): void {
    this.bits(1, 1);
  }

  /** Zero bits up to the next byte, and then these bytes. */
  aligned(bytes: Uint8Array): void {
    while (this.filled !== 0) this.bits(0, 1);
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Ends with the stop bit. */
  finish(): Buffer {
    this.bits(1, 1);
    while (this.filled !== 0) this.bits(0, 1);
    return this.bytes.subarray(0, this.length);
  }

  private flush(): void {
    this.reserve(1);
    this.bytes[this.length] = this.current;
    this.length += 1;
    this.current = 0;
    this.filled = 0;
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.alloc(Math.max(this.bytes.length * 2, this.length + more));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}

/** A NAL unit. Where the payload would look like the start of another unit, a byte 3 is inserted (emulation prevention). */
export function nalUnit(header: number, payload: Buffer): Buffer {
  const pieces: Buffer[] = [Buffer.from([header])];
  let from = 0;
  let zeros = 0;
  for (let index = 0; index < payload.length; index += 1) {
    const byte = payload[index] ?? 0;
    if (zeros >= 2 && byte <= 3) {
      pieces.push(payload.subarray(from, index), Buffer.from([3]));
      from = index;
      zeros = 0;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  pieces.push(payload.subarray(from));
  return Buffer.concat(pieces);
}
