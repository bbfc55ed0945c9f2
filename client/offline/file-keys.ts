/** Under which keys waiting files are kept (waiting-files.ts). */
export const filesPrefix = "file:";
export const filesOf = (owner: string) => `${filesPrefix}${owner}:`;
/** All files chosen in a conversation. */
export const filesOfThread = (owner: string, threadKey: string) => `${filesOf(owner)}${threadKey}:`;
