import { Companions } from "./companions.tsx";
import { RouteAnnouncer } from "./features/frame/route-announcer.tsx";
import { InstallButton } from "./features/install/install-button.tsx";
import { SleepingSaveSlot } from "./features/kept/sleeping-save-slot.tsx";
import { SupportButton } from "./features/support-widget/support-button.tsx";
import { PrefetchOnIntent } from "./lib/prefetch-on-intent.ts";
import { Notices } from "./notices.tsx";

/**
 * What every page shows and none needs at first, in one file: each file costs a request, and each new style sheet makes the browser style
 * the whole page again.
 */
export const lateParts = { Companions, InstallButton, Notices, PrefetchOnIntent, RouteAnnouncer, SleepingSaveSlot, SupportButton };
