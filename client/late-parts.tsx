import { Companions } from "./companions.tsx";
import { InstallButton } from "./features/install/install-button.tsx";
import { Notices } from "./notices.tsx";

/**
 * What every page shows and none needs at first, in one file: each file costs a request, and each new style sheet makes the browser style
 * the whole page again.
 */
export const lateParts = { Companions, InstallButton, Notices };
