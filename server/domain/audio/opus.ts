/** RFC 6716 §3.1: the first byte of an Opus packet says how long each of its frames is, and with the next one how many there are. */
export function opusSeconds(first: number, second: number): number {
  const configuration = first >> 3;
  const milliseconds =
    configuration < 12
      ? ([10, 20, 40, 60][configuration & 3] ?? 60)
      : configuration < 16
        ? ([10, 20][configuration & 1] ?? 20)
        : ([2.5, 5, 10, 20][configuration & 3] ?? 20);
  const code = first & 3;
  const frames = code === 0 ? 1 : code === 3 ? second & 63 : 2;
  return (frames * milliseconds) / 1_000;
}
