import { useEffect, useState } from "react";
import type { QueuedForm } from "./form-queue.ts";
import { listQueuedForms } from "./form-queue.ts";
import { onFormOutcome } from "./form-sender.ts";
import type { SentForm } from "./sent-forms.ts";
import { listSentForms } from "./sent-forms.ts";

export interface FormQueue {
  waiting: readonly QueuedForm[];
  /** Queued forms that were sent recently. */
  sent: readonly SentForm[];
}

const nothing: FormQueue = { waiting: [], sent: [] };

/** The person's forms that wait for a connection, and those sent recently. `owner` is undefined until it is known. */
export function useFormQueue(owner: string | null | undefined): FormQueue {
  const [queue, setQueue] = useState(nothing);
  useEffect(() => {
    if (owner === undefined) return;
    let current = true;
    const read = async () => {
      const [waiting, sent] = await Promise.all([listQueuedForms(), listSentForms()]);
      const isOwn = (form: { owner: string | null }) => form.owner === owner;
      if (current) setQueue({ waiting: waiting.filter((form) => isOwn(form) && form.refusal === null), sent: sent.filter(isOwn) });
    };
    const readAgain = () => void read();
    readAgain();
    const unlisten = onFormOutcome(readAgain);
    // Another tab may have queued one meanwhile.
    addEventListener("focus", readAgain);
    return () => {
      current = false;
      unlisten();
      removeEventListener("focus", readAgain);
    };
  }, [owner]);
  return queue;
}
