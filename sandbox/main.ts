/** Starts the sandbox (`node sandbox/main.ts`). If a supervisor started it, it reports when it is ready, and ends with the supervisor. */

import type { Sandbox } from "./app.ts";
import { buildSandbox } from "./app.ts";
import type { SandboxEnvironment } from "./environment.ts";
import { readSandboxEnvironment, SandboxEnvironmentError } from "./environment.ts";

const closeDeadlineMs = 4_500;

function readEnvironmentOrExit(): SandboxEnvironment {
  try {
    return readSandboxEnvironment(process.env);
  } catch (error) {
    if (!(error instanceof SandboxEnvironmentError)) throw error;
    for (const fault of error.faults) console.error(fault);
    process.exit(1);
  }
}

function explainStart(error: unknown, environment: SandboxEnvironment): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const port = error instanceof Error && "port" in error ? error.port : environment.port;
  if (code === "EADDRINUSE") return `Port ${port} is taken: set SANDBOX_PORT or SANDBOX_SMTP_PORT to another one`;
  if (code === "EACCES") return `Port ${port} or ${environment.dataDirectory} may not be opened by this user`;
  return `The sandbox can't start: ${error instanceof Error ? error.message : String(error)}`;
}

function closeOnce(sandbox: Sandbox): () => void {
  let closing = false;
  return () => {
    if (closing) return;
    closing = true;
    setTimeout(() => process.exit(1), closeDeadlineMs).unref();
    sandbox.close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
}

const environment = readEnvironmentOrExit();
try {
  const sandbox = await buildSandbox(environment);
  const close = closeOnce(sandbox);
  process.on("SIGTERM", close);
  process.on("SIGINT", close);
  process.on("disconnect", close);
  // The supervisor may have ended before this line ran.
  if (!process.connected && process.env.TESSERA_SUPERVISED === "1") close();
  const { url, smtpPort } = await sandbox.listen();
  process.send?.({ type: "ready", url, smtpPort });
} catch (error) {
  console.error(explainStart(error, environment));
  process.exit(1);
}
