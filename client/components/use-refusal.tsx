import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { useWait } from "#client/lib/use-wait.ts";
import { Alert } from "./alert.tsx";
import { VisuallyHidden } from "./visually-hidden.tsx";

interface Refused {
  /** The text, with the seconds to wait if the refusal gives them. */
  say: (retryAfterSeconds: number | undefined) => string;
  retryAfterSeconds: number | undefined;
}

export interface Refusal {
  /** The message to show above the fields. */
  note: ReactNode;
  /** Seconds until another try is allowed; 0 if it is allowed now. */
  waitSeconds: number;
  /** `words` replaces the usual text for the error's code. */
  refuse: (error: unknown, words?: string) => void;
  clear: () => void;
}

/**
 * The message of a refused try. If there is a wait, the message counts down on the screen; screen readers announce only its
 * beginning and its end.
 */
export function useRefusal(): Refusal {
  const { t } = useTranslation(["auth", "errors"]);
  const [refused, setRefused] = useState<Refused>();
  const { seconds, start } = useWait();

  function refuse(error: unknown, words?: string): void {
    const problem = error instanceof ApiProblem ? error : undefined;
    const code = problem?.code ?? "network";
    const say: Refused["say"] = (retryAfterSeconds) => words ?? problemText(code, { ...problem, retryAfterSeconds });
    setRefused({ say, retryAfterSeconds: problem?.retryAfterSeconds });
    start(problem?.retryAfterSeconds ?? 0);
  }

  function clear(): void {
    setRefused(undefined);
    start(0);
  }

  const note = refused && noteOf(refused, seconds, t("auth:wait.over"));
  return { note, waitSeconds: seconds, refuse, clear };
}

function noteOf({ say, retryAfterSeconds }: Refused, seconds: number, over: string): ReactNode {
  if (retryAfterSeconds === undefined) return <Alert tone="danger">{say(undefined)}</Alert>;
  if (seconds === 0) return <Alert key="over">{over}</Alert>;
  return (
    <Alert key="waiting" tone="danger">
      <span aria-hidden="true">{say(seconds)}</span>
      <VisuallyHidden>{say(retryAfterSeconds)}</VisuallyHidden>
    </Alert>
  );
}
