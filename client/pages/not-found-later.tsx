import { lazy } from "react";

/** For pages at whose address there may be nothing, which few readers ever meet. */
export const NotFoundLater = lazy(async () => ({ default: (await import("./not-found.tsx")).NotFoundPage }));
