import { Mosaic } from "./stones/mosaic.tsx";

const picture = `
..............ppppppp...........................
............pppgggggppp.........................
.d.d.d.....ppgggggggggpp.....m..................
.d.d.d....pggggsssssggggp...mm..................
.d.d.d...ppggssgggggssggpp..mm..ddddddddddddddd.
.d.d.d...pggssgmmmmmgssggp..mm..ddddddddddddddd.
.ddddd..ppggsgmpppppmgsggpp.mm..ggggggggggggggg.
..ddd...pggsgmpmmmmmpmgsggp.mm..gogdgpgpgdgpgpg.
...d....pggsgmpmpppmpmgsggp.mm..ggggggggggggggg.
...d....pggsgmpmpxpmpmgsggp.mm..gogdgpgpgdgpgpg.
...d....pggsgmpmpmmmpmgsggp.mm..ggggggggggggggg.
...d....pggsgmpmpppppmgsggp..d..gogdgpgpgdgpgpg.
...d....ppggsgmpmmmmmgsggpp..d..ggggggggggggggg.
...d.....pggssgpppppgssggp...d..gogdgpgpgdgpgpg.
...d.....ppggssgggggssggpp...d..ggggggggggggggg.
...d......pggggsssssggggp....d..ggggggggggggggg.
...d.......ppgggggggggpp.....d..................
...d........pppgggggppp......d..................
..............ppppppp...........................
................................................
`;

/** A plate, and four weeks with two posts in each; Mondays are closed. */
export function AiSocialMediaMarketingRestaurantsIllustration() {
  return <Mosaic fields={[{ picture }]} />;
}
