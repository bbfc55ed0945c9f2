/** Runs a sandbox as a process that a test can kill: `node child.ts <database> <webhook port>` prints its port. */
import { startSandbox } from "./harness.ts";

const [databasePath, webhookPort] = process.argv.slice(2);
const harness = await startSandbox({ databasePath: String(databasePath), webhookPort: Number(webhookPort) });
console.log(new URL(harness.address).port);
