/** `silent`: nothing in it sounds. `moving`: it has pictures too. `damaged`: we can't tell how long it is. `unknown`: another kind of file. */
export type RecordingFault = "silent" | "moving" | "damaged" | "unknown";

/** Seconds of sound, or why they can't be told. */
export type Measured = number | RecordingFault;

/** A player may skip a broken part and go on. So if more than this follows it, the file counts as damaged. */
export const mostRestBytes = 4_096;
