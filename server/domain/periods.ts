/** How long links, trials and the like are valid. kept-periods.ts says how long data is kept. */
import { dayMs, hourMs, minuteMs } from "./clock.ts";

/** For this long after its end an answer's events can be read. After that the text comes from its conversation, in one piece. */
export const answerLogReadableMs = 24 * hourMs;

/**
 * By this time the events of an answer are deleted. A partition of the log has the answers that began within twelve hours, and is
 * dropped 25 hours after that (migrations/0033): 38 hours if the worker, which looks every hour, never has to try again.
 */
export const answerLogGoneMs = 49 * hourMs;

/** How long an export can be downloaded. A constant of its own, because a page of the client says it. */
export const exportFileMs = dayMs;
/** An export reads all data of a person. The panel says how many there may be, too. */
export const exportsADay = 3;

/** How long a browser keeps what it was given. Constants of their own: the first page needs one of them. */
export const accessTokenMs = 10 * minuteMs;
/** For this long after showing a factor a sign-in may do dangerous things. */
export const stepUpMs = 10 * minuteMs;
/** For this long a deleted account can be restored. */
export const deletionMs = 14 * dayMs;
/** For this long a sign-in waits for its second factor, and a new authenticator app for its first code. */
export const factorWaitMs = 10 * minuteMs;
/** For this long a browser may take to show or to make a passkey. */
export const passkeyMs = 5 * minuteMs;
/** How long a request to remove a lost second factor waits (migrations/*_factor_resets.up.sql), and how long its link works then. */
export const factorResetWaitMs = 72 * hourMs;
export const factorResetLinkMs = 24 * hourMs;
export const signUpCookieMs = dayMs;
export const recoveryMs = 30 * minuteMs;
/** How long the team's link for a new password works: longer than others, because the person is not waiting for it. */
export const givenBackMs = dayMs;
/** How long somebody may take at Google, and to sign in in their own way before Google is linked. */
export const googleMs = 10 * minuteMs;
/** For this long the link mailed to a new address can be opened. */
export const emailChangeMs = hourMs;
/** For this long a change of the address can be reversed, and the earlier address is nobody else's. */
export const undoEmailMs = 7 * dayMs;
/** For this long the mail about a new way to sign in can remove it, and a session opened by it can't cancel a lost factor's removal. */
export const disownMs = 7 * dayMs;
export const deviceCookieMs = 365 * dayMs;
export const languageCookieMs = 365 * dayMs;
export const givenPromptMs = dayMs;
export const sentFormMs = dayMs;
/** A file that was chosen and not uploaded stays on the device for as long as one that was uploaded and not sent stays on the server. */
export const waitingFileMs = 7 * dayMs;
