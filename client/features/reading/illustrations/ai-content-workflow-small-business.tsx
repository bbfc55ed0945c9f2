import { Mosaic } from "./stones/mosaic.tsx";

const picture = `
................................................
....................ggggggggggg.......ggggggggg.
....................ggggggggggg.......gddddgggg.
....................gdddddddggg...p.p.ggggggggg.
.....ssssss.........gddddgggggg.......gmmmmmmgg.
...ssssssssss.......ggggggggggg...p...ggggggggg.
...ssssssssss.......ggggggggggg.................
..ssssssssssss......gmmmmmmmmmg...p...ggggggggg.
..sssssxssssss......ggggggggggg.......gdddddggg.
..ssssssssssss..p.p.gmmmmmmmggg.p.p.p.ggggggggg.
.mm.ssssssss.mm.....ggggggggggg.......gmmmmgggg.
.mmmssssssssmmm.....gmmmmmmmmmg...p...ggggggggg.
.mmmddddddddmmm.....ggggggggggg.................
.mmmssssssssmmm.....gmmmmmggggg...p...ggggggggg.
.mmmssssssssmmm.....ggggggggggg.......gdddggggg.
.mmmmmmmmmmmmmm.....gmmmmmmmmgg...p.p.ggggggggg.
..dddddddddddd......ggggggggggg.......gmmmmmmmg.
...d........d.......gmmmmmmgggg.......ggggggggg.
...d........d.......ggggggggggg.................
pppppppppppppppppppppppppppppppppppppppppppppppp
`;

/** One chair becomes an article, and the article three short pieces. */
export function AiContentWorkflowSmallBusinessIllustration() {
  return <Mosaic fields={[{ picture }]} />;
}
