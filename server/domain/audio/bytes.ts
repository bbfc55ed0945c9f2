/** Reads numbers and names of binary formats. Reading past the end gives 0, so a truncated file needs no special case. */
export class Bytes {
  readonly all: Uint8Array;
  private readonly view: DataView;

  constructor(all: Uint8Array) {
    this.all = all;
    this.view = new DataView(all.buffer, all.byteOffset, all.byteLength);
  }

  get length(): number {
    return this.all.length;
  }

  u8(at: number): number {
    return this.all[at] ?? 0;
  }

  u16(at: number): number {
    return at + 2 <= this.length ? this.view.getUint16(at) : 0;
  }

  u32(at: number): number {
    return at + 4 <= this.length ? this.view.getUint32(at) : 0;
  }

  u64(at: number): number {
    return this.u32(at) * 2 ** 32 + this.u32(at + 4);
  }

  u16Little(at: number): number {
    return at + 2 <= this.length ? this.view.getUint16(at, true) : 0;
  }

  u32Little(at: number): number {
    return at + 4 <= this.length ? this.view.getUint32(at, true) : 0;
  }

  u64Little(at: number): number {
    return this.u32Little(at + 4) * 2 ** 32 + this.u32Little(at);
  }

  name(at: number, length = 4): string {
    return String.fromCharCode(...this.all.subarray(at, at + length));
  }
}
