/** How a process of the product begins and ends, started alone or by the supervisor of `npm start`. */

/**
 * The process's environment. The supervisor may start a process before the database is ready and send the environment later:
 * meanwhile the process loads its code, which takes longer than the rest of a start.
 */
export async function givenEnvironment(): Promise<NodeJS.ProcessEnv> {
  if (process.env.TESSERA_AHEAD !== "1") return process.env;
  const orphaned = () => process.exit(1);
  process.once("disconnect", orphaned);
  const environment = await new Promise<NodeJS.ProcessEnv>((resolve) => {
    process.once("message", (message) => resolve((message as { environment: NodeJS.ProcessEnv }).environment));
    if (!process.connected) orphaned();
  });
  process.off("disconnect", orphaned);
  return environment;
}

/** Tells the supervisor that the process is ready. */
export function signalReady(): void {
  process.send?.({ type: "ready" });
}

/**
 * `close` may have to wait for others, for example for a sweep whose call to Stripe gets no response. After this time the process
 * exits anyway, and others take over its work. The supervisor's own deadline is longer.
 */
const usualDeadlineMs = 13_000;

/**
 * Runs `close` once and exits, on SIGTERM or SIGINT and when the supervisor has ended, so that a killed supervisor leaves no
 * orphan processes. If `close` fails or takes too long, the exit code is 1.
 */
export function exitWithParent(close: () => Promise<void>, deadlineMs = usualDeadlineMs): void {
  let closing = false;
  const exit = () => {
    if (closing) return;
    closing = true;
    setTimeout(() => {
      console.error(`the process did not close within ${deadlineMs / 1_000} s and exits anyway`);
      process.exit(1);
    }, deadlineMs).unref();
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  // `on` and not `once`: Ctrl-C arrives twice, from the terminal and from npm, and the second must not end the process early.
  process.on("SIGTERM", exit);
  process.on("SIGINT", exit);
  process.once("disconnect", exit);
  // The supervisor may have ended before this line ran.
  if (!process.connected && process.env.TESSERA_SUPERVISED === "1") exit();
}
