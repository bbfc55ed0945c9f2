import { Mosaic } from "./stones/mosaic.tsx";

const coarse = `
sss.
sss.
.d..
gggg
pppp
`;

const finer = `
..sss...
.sssss..
.sssss..
..sss...
...d....
...d....
gggggggg
gggggggg
pppppppp
pppppppp
`;

const fine = `
.....sssss......
...sssssssss....
..sssssssssss...
.sssssssssssss..
.ssssssssssssd..
.sssssssssssdd..
.ssssssssxssdd..
..sssdsssssdd...
...sssdssddd....
......ddd.......
......ddd.......
......ddd.......
ggggggdddggggggg
gggggggmmmmggggg
gggggggggmmmmmgg
ggggggggggggmmmm
pppppppppppppppp
pppppppppppppppp
pppppppppppppppp
pppppppppppppppp
`;

/** One tree at the third attempt: laid coarse, then finer, then fine enough for its fruit. */
export function ImageGenerationIllustration() {
  return (
    <Mosaic
      fields={[
        { picture: coarse, side: 4 },
        { picture: finer, side: 2, column: 16 },
        { picture: fine, column: 32 },
      ]}
    />
  );
}
