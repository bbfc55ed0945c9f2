/**
 * Named instants at which the tests let a process die as kill -9 would: between two steps that belong together. Armed by
 * TESSERA_FAULT_POINT outside production, inert otherwise.
 */
export const faultPoints = [
  "webhook-stored",
  "answer-held",
  "answer-streaming",
  "answer-ended",
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
