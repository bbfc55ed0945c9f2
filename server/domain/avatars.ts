/** The pictures of people: what may be uploaded, in which sizes they are kept, and at which addresses. */

export const avatarLimits = {
  megabytes: 10,
  /** Width × height, in millions. */
  megapixels: 40,
  types: ["image/jpeg", "image/png", "image/webp", "image/avif", "image/gif"],
} as const;
export const avatarBytes = avatarLimits.megabytes * 1024 * 1024;

/** Squares, in pixels: for the bar, and for the profile. */
export const avatarSizes = { small: 96, large: 320 } as const;
export type AvatarSize = keyof typeof avatarSizes;

/** The square of a picture that is kept, in pixels of the upright picture. */
export interface Crop {
  left: number;
  top: number;
  side: number;
}

/** The largest square in the middle. */
export function centreCrop(width: number, height: number): Crop {
  const side = Math.min(width, height);
  return { left: Math.floor((width - side) / 2), top: Math.floor((height - side) / 2), side };
}

/** The address of the large picture; `small` is what sessions and accounts contain. */
export function largeAvatar(small: string): string {
  return small.replace(`/${avatarSizes.small}.webp`, `/${avatarSizes.large}.webp`);
}

export function avatarAddress(name: string, size: AvatarSize): string {
  return `/avatars/${name}/${avatarSizes[size]}.webp`;
}
