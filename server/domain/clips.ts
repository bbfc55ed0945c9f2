/** What a clip may be asked to be. None of it changes its price: the price covers the longest, with a picture to begin with. */

/** All of them are asked for in 720p. */
export const clipSeconds = [4, 6, 8] as const;
export type ClipSeconds = (typeof clipSeconds)[number];

/** Width to height. A clip that begins with a picture has the picture's shape. */
export const clipShapes = ["16:9", "9:16", "1:1", "4:3", "3:4"] as const;
export type ClipShape = (typeof clipShapes)[number];

/** The options of a request that names none. */
export const usualClip = { seconds: 8, shape: "16:9" } as const;

export const clipLimits = {
  /** Clips of one person that wait or are being made. */
  open: 10,
  /** Clips that are being made at once, of everybody and of one person. The others wait in the queue. */
  atWork: 8,
  atWorkEach: 2,
  /** A person is told their place in the queue as far as this one. */
  toldPlaces: 50,
  /** The limit for a finished clip. Eight seconds, the longest, have about 12. */
  megabytes: 100,
  /** The longer side of the picture that it begins with. */
  picturePixels: 1280,
  /** A clip that nobody could begin within this time ends uncharged. */
  queueMinutes: 30,
  /** A clip that is not finished this long after it began ends uncharged, too. */
  workMinutes: 15,
  /** The prompt is the clip's text for those who do not see it, up to this many characters. */
  alternative: 500,
} as const;

export function aspectOf(shape: ClipShape): { width: number; height: number } {
  const [width = 0, height = 0] = shape.split(":").map(Number);
  return { width, height };
}
