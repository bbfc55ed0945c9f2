/** Uploads one file with XMLHttpRequest, because `fetch` does not report upload progress. */
import { ApiProblem, bearerNow } from "#client/lib/api.ts";
import type { FilePurpose } from "#client/offline/waiting-files.ts";
import type { Problem } from "#contract/common.ts";
import type { FileInfo } from "#contract/files.ts";
import { attachmentBytes } from "#domain/files.ts";
import { recordingBytes } from "#domain/transcripts.ts";

/** The server may need a while to read a long document. A connection on which nothing happens for longer than this counts as broken. */
const stillMs = 60_000;

export function bytesFor(purpose: FilePurpose): number {
  return purpose === "recording" ? recordingBytes : attachmentBytes;
}

interface Sending {
  file: Blob;
  name: string;
  purpose: FilePurpose;
  signal: AbortSignal;
  /** 0–1. */
  onProgress: (share: number) => void;
}

/** Resolves with the answer, whatever it is; rejects if there is none, or with an AbortError if it was given up. */
function answerTo(request: XMLHttpRequest, { file, name, purpose, signal, onProgress }: Sending, bearer: string | null): Promise<void> {
  let still: ReturnType<typeof setTimeout> | undefined;
  const giveUp = () => request.abort();
  return new Promise<void>((resolve, reject) => {
    const wait = () => {
      clearTimeout(still);
      still = setTimeout(() => {
        reject(new Error("network"));
        giveUp();
      }, stillMs);
    };
    request.open("POST", `/api/${purpose === "recording" ? "recordings" : "files"}?name=${encodeURIComponent(name)}`);
    if (bearer !== null) request.setRequestHeader("authorization", `Bearer ${bearer}`);
    // The server detects the type from the bytes.
    request.setRequestHeader("content-type", "application/octet-stream");
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => {
      wait();
      onProgress(total > 0 ? loaded / total : 0);
    };
    request.onload = () => resolve();
    request.onerror = () => reject(new Error("network"));
    request.onabort = () => reject(new DOMException("removed", "AbortError"));
    signal.addEventListener("abort", giveUp, { once: true });
    wait();
    request.send(file);
  }).finally(() => {
    clearTimeout(still);
    signal.removeEventListener("abort", giveUp);
  });
}

/** Throws ApiProblem if the server refuses it. */
export async function sendFile(sending: Sending): Promise<FileInfo> {
  const bearer = await bearerNow();
  sending.signal.throwIfAborted();
  const request = new XMLHttpRequest();
  await answerTo(request, sending, bearer);
  if (request.status !== 201) throw new ApiProblem(request.status, (request.response ?? {}) as Partial<Problem>);
  return request.response as FileInfo;
}
