import type { ReactNode } from "react";
import { lazy, Suspense } from "react";

/** Never there, so that its Suspense boundary is not hydrated. */
const Drawn = lazy(() => new Promise<never>(() => undefined));

/**
 * The place above the bar (client/trial-banner.tsx). The prerendered HTML has a banner here, which stays as it was drawn until its code has
 * come; until then `data-asleep` makes boot.js remember a tap. Pass the same element at each render.
 */
export function BannerPlace({ children }: { children: ReactNode }) {
  return (
    <div id="banner" data-asleep="">
      <Suspense fallback={null}>{children ?? <Drawn />}</Suspense>
    </div>
  );
}
