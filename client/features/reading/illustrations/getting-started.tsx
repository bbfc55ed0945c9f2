import { Mosaic } from "./stones/mosaic.tsx";

const picture = `
...............p......
............x.........
.........d............
..ggpdpggoooooooooooo.
..gpdgdpgpooooooooooo.
..pdgpgdpdgoooooooooo.
..dgpspgdgpsooooooooo.
..pdgpgdpdgpgoooooooo.
..gpdgdpgpdgdpooooooo.
..ggpdpgggpdpggoooooo.
`;

/** A floor begun at one side; three stones are on their way to their places. */
export function GettingStartedIllustration() {
  return <Mosaic fields={[{ picture, side: 2, column: 1 }]} />;
}
