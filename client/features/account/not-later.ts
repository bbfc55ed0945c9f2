/** When something was last used. A clock of this device that is behind the server's must not put it in the future. */
export function notLater(usedAt: string, readAt: Date): Date {
  return new Date(Math.min(Date.parse(usedAt), readAt.getTime()));
}
