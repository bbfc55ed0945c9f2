/**
 * Points between two steps that belong together. With TESSERA_FAULT_POINT set to a point's name the process kills itself
 * there with SIGKILL, which the tests use. In production nothing happens.
 */
const faultPoints = [
  "webhook-stored",
  "answer-held",
  "answer-streaming",
  "answer-ended",
  "clip-begun",
  "job-published",
  "event-read",
  "event-committed",
  "mail-sent",
] as const;
export type FaultPoint = (typeof faultPoints)[number];

let armed: string | undefined;

export function armFaultPoint(name: string | undefined): void {
  armed = name;
}

export function faultPoint(name: FaultPoint): void {
  if (armed === name) process.kill(process.pid, "SIGKILL");
}
