/** What a picture may be asked to be. None of it changes its price: a model's limits are such that its price covers the dearest. */

/** Width and height in pixels. */
export const pictureSizes = ["1024x1024", "1536x1024", "1024x1536", "1536x864", "864x1536"] as const;
export type PictureSize = (typeof pictureSizes)[number];

export const pictureQualities = ["low", "medium", "high"] as const;
export type PictureQuality = (typeof pictureQualities)[number];

export const pictureBackgrounds = ["auto", "transparent"] as const;
export type PictureBackground = (typeof pictureBackgrounds)[number];

export const pictureLimits = {
  /** Pictures of one request. */
  count: 4,
  /** Pictures that a request may begin from. */
  references: 4,
  /** A reference is made smaller than this before it goes to the provider. */
  referencePixels: 1024,
  /** Pictures that are shown while one is being made. */
  previews: 2,
  /** The prompt is the picture's alternative text, up to this many characters. */
  alternative: 500,
} as const;

/** The limit for the prompt (tokens.ts). A prompt of the longest length has fewer tokens in any language that we speak. */
export const picturePromptTokens = 15_100;

/** The options of a request that names none. */
export const usualPicture = { count: 1, size: "1024x1024", quality: "medium", background: "auto" } as const;

export function sizeOf(size: PictureSize): { width: number; height: number } {
  const [width = 0, height = 0] = size.split("x").map(Number);
  return { width, height };
}

/** How many pictures were delivered, by what was charged for them. */
export function deliveredPictures(asked: number, heldCredits: number, chargedCredits: number): number {
  return Math.round((chargedCredits * asked) / heldCredits);
}
