import { Mosaic } from "./stones/mosaic.tsx";

const picture = `
................................................
..........................................d.....
.........................................ddd....
.....dd.................................ddddd...
...dddddd..............................ddddddd..
.dddddddddd...........................ddddddddd.
dddddddddddd.........................ddddddddddd
gggggggggggg.........................ppppppppppp
ggmmggggmmgg.dddddddddd.mmmmmmmmmmmmmppmmpppmmpp
ggmmggggmmgg.pppppppppp.gggggggggggggppmmpppmmpp
ggmmggggmmgg.pmmppppmmp.gggdddddddgggppmmpppmmpp
gggggggggggg.pmmppppmmp.gggggggggggggppppppppppp
dddddddddddd.pppppppppp.gmmmmmmmmmmmgddddddddddd
sgsgsgsgsgsg.pppppppppp.gpppppppppppggsgsgsgsgsg
sgsgsgsgsgsg.mmmmmmmmmm.gmmmmmmmmmmmggsgsgsgsgsg
g.m....gdddg.pdddp....p.gpppppppppppgpdddp.....p
g.mmmm.gdddg.pdddpss..p.gmmmmmmmmmmmgpdddp.....p
g.m..m.gdddg.pdddp.s.sp.gpppppppppppgpdxdp.....p
ggggggggdddg.pdddpppppp.gmmmmmmmmmmmgpdddppppppp
pppppppppppppppppppppppppppppppppppppppppppppppp
`;

/** A street of shops, each with a job of its own. */
export function LocalBusinessAiToolsGuideIllustration() {
  return <Mosaic fields={[{ picture }]} />;
}
