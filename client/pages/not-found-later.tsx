import { lazy } from "react";

/** For pages whose address may not exist. Lazy, because few readers ever see it. */
export const NotFoundLater = lazy(async () => ({ default: (await import("./not-found.tsx")).NotFoundPage }));
