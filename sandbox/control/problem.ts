import type { Static } from "typebox";
import type { Problem } from "#contract/common.ts";

const titles = {
  400: "Bad request",
  403: "Forbidden",
  404: "Not found",
  409: "Conflict",
  413: "Too large",
  415: "Unsupported media type",
  421: "Misdirected request",
  500: "Internal error",
  502: "Bad gateway",
  504: "Gateway timeout",
} as const;
export type ProblemStatus = keyof typeof titles;

/** A refusal of a control endpoint. Scripts get it as RFC 9457 describes, people as a page. */
export class ControlProblem extends Error {
  override readonly name = "ControlProblem";
  readonly statusCode: ProblemStatus;
  readonly code: string;
  readonly field: string | undefined;

  constructor(statusCode: ProblemStatus, code: string, message: string, field?: string) {
    super(message);
    this.statusCode = statusCode;
    this.code = code;
    this.field = field;
  }
}

export function problemBody(problem: ControlProblem): Static<typeof Problem> {
  return {
    type: "about:blank",
    title: titles[problem.statusCode],
    status: problem.statusCode,
    detail: problem.message,
    code: problem.code,
    error: problem.message,
    ...(problem.field === undefined ? {} : { fields: [{ field: problem.field, message: problem.message }] }),
  };
}
