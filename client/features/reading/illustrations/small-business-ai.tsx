import { Mosaic } from "./stones/mosaic.tsx";

const picture = `
.........................................ss.....
.ppppppppppppp.........................ss.s.....
.pdddddddddddp.......................ssm..s.....
.pd....d....dp.....................ss..m..s.....
.pd....d....dx...................ss.m..m.dddddd.
.pd....d....dp.................ssm..m..m.pggggg.
.pdddddddddddp...............ss..m..m..m.pggggg.
.pd....d....dp.............ss.m..m.ddddddpggggg.
.pd....d....dp...........ssm..m..m.pgggggpggggg.
.pd....d....dp.........ss..m..m..m.pgggggpggggg.
.pdddddddddddp.......ss.m..m.ddddddpgggggpggggg.
mmmmmmmmmmmmmmm...sssm..m..m.pgggggpgggggpggggg.
..................s..m..m..m.pgggggpgggggpggggg.
..................s..m.ddddddpgggggpgggggpggggg.
..................s..m.pgggggpgggggpgggggpggggg.
..................s..m.pgggggpgggggpgggggpggggg.
.................ddddddpgggggpgggggpgggggpggggg.
.................pgggggpgggggpgggggpgggggpggggg.
.................pgggggpgggggpgggggpgggggpggggg.
pppppppppppppppppppppppppppppppppppppppppppppppp
`;

/** Five steps, one for each weekday, and a single stone in the plaster round a window. */
export function SmallBusinessAiIllustration() {
  return <Mosaic fields={[{ picture }]} />;
}
