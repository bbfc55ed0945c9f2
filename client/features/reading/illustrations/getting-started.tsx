import { Mosaic } from "./stones/mosaic.tsx";

const picture = `
.............x..........
..........p.....d.......
........................
.sgdpdgsgoooooooooooooo.
.psgdgspsgooooooooooooo.
.dpsgspdpsgoooooooooooo.
.gdpspdgdpspooooooooooo.
.sgdpdgsgdpdgoooooooooo.
.psgdgspsgdgspooooooooo.
.dpsgspdpsgspdpoooooooo.
`;

/** A floor begun at one side; three stones are on their way to their places. */
export function GettingStartedIllustration() {
  return <Mosaic fields={[{ picture, side: 2 }]} />;
}
