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
.sssssssssssdd..
.ssssssssssddd..
.sssssssxsdddd..
..ssssssddddd...
....ssdddddd....
.....ddddd......
......ddd.......
......ddd.......
ggggggddmmmggggg
gggggggggmmmmmgg
ggggggggggggmmmm
gggggggggggggggg
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
