import { Mosaic } from "./stones/mosaic.tsx";

const coarse = `
ppppppppppp
pgggggggggp
pgdddgggggp
pgdgdddddgp
pgdddgdgdgp
pgggggggggp
ppppppppppp
`;

const fine = `
pppppppppppppppppppppp
pmpmpmpmpmpmpmpmpmpmpp
ppggggggggggggggggggmp
pmggggggggggggggggggpp
ppgggddddgggggggggggmp
pmggddddddggggggggggpp
ppggddggddddddddddggmp
pmggddggddddddddddggpp
ppggddddddgggddggdggmp
pmgggddddggggdxggdggpp
ppggggggggggggggggggmp
pmggggggggggggggggggpp
ppmpmpmpmpmpmpmpmpmpmp
pppppppppppppppppppppp
`;

/** The same key twice, in large stones and in small ones. The two differ in one stone. */
export function Gpt5VsGpt4SmallBusinessIllustration() {
  return (
    <Mosaic
      fields={[
        { picture: coarse, side: 2, column: 1, row: 3 },
        { picture: fine, column: 25, row: 3 },
      ]}
    />
  );
}
