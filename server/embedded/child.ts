/** The child's side of supervision; a process started alone has no supervisor and none of this concerns it. */

/** Tells the supervisor that the process serves. */
export function signalReady(): void {
  process.send?.({ type: "ready" });
}

/**
 * Runs `close` once and exits: on SIGTERM and SIGINT, and when the supervisor has gone, so that a killed supervisor
 * leaves no orphan. `close` has its own deadline; where it fails, the exit code is 1.
 */
export function exitWithParent(close: () => Promise<void>): void {
  let closing = false;
  const exit = () => {
    if (closing) return;
    closing = true;
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", exit);
  process.once("SIGINT", exit);
  process.once("disconnect", exit);
  // The supervisor may have gone before this line ran.
  if (process.channel === undefined && process.env.TESSERA_SUPERVISED === "1") exit();
}
