import { useEffect, useState } from "react";
import { readLastModel } from "#client/offline/last-model.ts";

interface Read {
  userId: string;
  threadKey: string;
  modelId: string | null;
}

/** The model used last on this device, read again for every thread that is opened; undefined until it is read. */
export function useLastModel(userId: string, threadKey: string): string | null | undefined {
  const [read, setRead] = useState<Read>();
  useEffect(() => {
    let current = true;
    void readLastModel(userId).then((modelId) => current && setRead({ userId, threadKey, modelId }));
    return () => {
      current = false;
    };
  }, [userId, threadKey]);
  return read?.userId === userId && read.threadKey === threadKey ? read.modelId : undefined;
}
