/** `silent`: nothing in it sounds. `moving`: it has pictures too. `damaged`: we can't tell how long it is. `unknown`: another kind of file. */
export type RecordingFault = "silent" | "moving" | "damaged" | "unknown";

/** Seconds of sound, or why they can't be told. */
export type Measured = number | RecordingFault;

/** A player may go on behind what is broken, so a file of which more than this is left counts as damaged. */
export const mostRestBytes = 4_096;
