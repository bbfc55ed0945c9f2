import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { useWait } from "./use-wait.ts";

interface Refused {
  /** With so many seconds to wait, where the refusal names a time. */
  say: (retryAfterSeconds: number | undefined) => string;
  retryAfterSeconds: number | undefined;
}

export interface Refusal {
  /** Where it belongs: above the fields. */
  note: ReactNode;
  /** Until another try is taken; 0: now. */
  waitSeconds: number;
  /** `words` instead of what the code says everywhere else. */
  refuse: (error: unknown, words?: string) => void;
  clear: () => void;
}

/** What a try was refused with. A wait counts down before one's eyes; it is read out when it begins and when it is over. */
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
