/** An error that the person who starts the product can fix. It is printed as one line that names the remedy, without a stack. */
export class StartError extends Error {
  override readonly name = "StartError";
}
