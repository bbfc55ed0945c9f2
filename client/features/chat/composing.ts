/** What a key press needs to tell whether Enter means "send". */
export interface KeyPress {
  key: string;
  shiftKey: boolean;
  isComposing: boolean;
  keyCode: number;
  timeStamp: number;
}

/** Safari reports the end of a composition before the Enter that ended it. That Enter follows within this time. */
const afterCompositionMs = 100;

/**
 * Spec §5: Enter sends, Shift+Enter adds a line. An Enter that picks a word in an input method never sends: it is marked
 * by isComposing, by keyCode 229 (UI Events §4.3.2), or by coming just after compositionend (`endedAt`, the event's timeStamp in ms).
 */
export function sendsMessage(press: KeyPress, endedAt: number | undefined): boolean {
  if (press.key !== "Enter" || press.shiftKey) return false;
  if (press.isComposing || press.keyCode === 229) return false;
  return endedAt === undefined || press.timeStamp - endedAt > afterCompositionMs;
}
