import { ApiProblem } from "#client/lib/api.ts";

/** For a call's `catch`: runs `goOn` if the call was refused with this code, and throws every other error. */
export function unlessCode(code: string, goOn: (error: ApiProblem) => void): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ApiProblem) || error.code !== code) throw error;
    goOn(error);
  };
}
