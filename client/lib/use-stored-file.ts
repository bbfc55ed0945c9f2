import { useEffect, useRef, useState } from "react";
import { hasEnded, retryAddress, useAddressesFailed, useFileAddress } from "./file-addresses.ts";
import { useOnline } from "./use-online.ts";

interface StoredFileState {
  /** Undefined until it is known, and null if the file was deleted. */
  address: string | null | undefined;
  /** It can't be read now. */
  failed: boolean;
  retry: () => void;
  /** For the element that shows the file: it could not be loaded from its address. */
  onError: () => void;
}

/** A file of the person that is shown. It is tried again by itself when the device is online again. */
export function useStoredFile(fileId: string): StoredFileState {
  const address = useFileAddress(fileId);
  const askFailed = useAddressesFailed();
  const [broken, setBroken] = useState<string>();
  const failed = (address === undefined && askFailed) || (address !== undefined && address === broken);
  const retry = () => {
    setBroken(undefined);
    retryAddress(fileId);
  };
  const online = useOnline();
  const again = useRef(retry);
  again.current = () => failed && retry();
  useEffect(() => {
    if (online) again.current();
  }, [online]);
  const onError = () => (hasEnded(fileId) ? retryAddress(fileId) : setBroken(address ?? undefined));
  return { address, failed, retry, onError };
}
