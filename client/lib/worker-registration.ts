let tell: (error: unknown) => void;

/** Rejects if the browser refuses the service worker; pending otherwise. Who waits for the worker need not wait in vain. */
export const registrationFailure = new Promise<never>((_, reject) => {
  tell = reject;
});
registrationFailure.catch(() => undefined);

export function registrationFailed(error: unknown): void {
  tell(error);
}
