import { ApiProblem } from "#client/lib/api.ts";

/** For a call's `catch`: goes another way on with that refusal, and throws every other error. */
export function unlessCode(code: string, goOn: (error: ApiProblem) => void): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ApiProblem) || error.code !== code) throw error;
    goOn(error);
  };
}
