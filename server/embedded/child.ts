/** The child's side of supervision; a process started alone has no supervisor and none of this concerns it. */

/** Tells the supervisor that the process serves. */
export function signalReady(): void {
  process.send?.({ type: "ready" });
}

/**
 * However long others keep `close` waiting (a sweep that asks a Stripe which doesn't answer), the process ends by then and
 * what was under way is taken over; below the supervisor's own deadline.
 */
const exitDeadlineMs = 13_000;

/**
 * Runs `close` once and exits: on SIGTERM and SIGINT, and when the supervisor has gone, so that a killed supervisor
 * leaves no orphan. Where it fails or takes too long, the exit code is 1.
 */
export function exitWithParent(close: () => Promise<void>): void {
  let closing = false;
  const exit = () => {
    if (closing) return;
    closing = true;
    setTimeout(() => {
      console.error(`not everything had ended within ${exitDeadlineMs / 1_000} s`);
      process.exit(1);
    }, exitDeadlineMs).unref();
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
