/** A fault the person who starts the product can mend: shown as one line naming the remedy, without a stack. */
export class StartError extends Error {
  override readonly name = "StartError";
}
