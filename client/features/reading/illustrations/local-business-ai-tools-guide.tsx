import { Mosaic } from "./stones/mosaic.tsx";

const picture = `
................................................
.........................................d......
........................................ddd.....
.........mm............................ddddd....
...dddddddd...........................ddddddd...
..dddddddddd.........................ddddddddd..
.dddddddddddd.......................ddddddddddd.
.gggggggggggg.......................ppppppppppp.
.ggmmggggmmgg...........mmmmmmmmmmmmppmmpppmmpp.
.ggmmggggmmggdddddddddddggggggggggggppmmpppmmpp.
.ggmmggggmmggpppppppppppggddddddddggppmmpppmmpp.
.ggggggggggggpmmppppmmppggggggggggggppppppppppp.
.ddddddddddddpmmppppmmppgppppppppppgddddddddddd.
.sgsgsgsgsgsgpppppppppppgmmmmmmmmmmggsgsgsgsgsg.
.sgsgsgsgsgsgmmmmmmmmmmmg..........ggsgsgsgsgsg.
.g......gdddgpdddp.....pg...ddd....gpdddp.....p.
.gdd...dgdddgpdddps.s.spg.dddddddd.gpdddp..m..p.
.g.dddd.gdddgpdddps.s.spg.dddddddd.gpdxdp.mmm.p.
.g.d..d.gdddgpdddpm.m.mpg..m....m..gpdddpmmmmmp.
pppppppppppppppppppppppppppppppppppppppppppppppp
`;

/** A street of shops, each with a job of its own: a groomer, a florist, a garage, a baker. */
export function LocalBusinessAiToolsGuideIllustration() {
  return <Mosaic fields={[{ picture }]} />;
}
