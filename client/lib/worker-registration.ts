let tell: (error: unknown) => void;

/** Rejects if the service worker can't be registered, so that nobody goes on waiting for it. Otherwise it never settles. */
export const registrationFailure = new Promise<never>((_, reject) => {
  tell = reject;
});
registrationFailure.catch(() => undefined);

export function registrationFailed(error: unknown): void {
  tell(error);
}
