/** Files chosen in the chat but not uploaded yet, each under `file:<person>:<conversation>:<id>`. They survive a reload or a closed tab. */
import { waitingFileMs } from "#domain/periods.ts";
import { filesOf, filesOfThread, filesPrefix } from "./file-keys.ts";
import type { Entry, Kept, Kind } from "./store.ts";
import { isRecord, listStored, readStored, removeStored, writeStored } from "./store.ts";

/** What a file was chosen for: the next question, a transcript, a reference for pictures, or the first picture of a clip. */
const filePurposes = ["question", "recording", "reference", "first_picture"] as const;
export type FilePurpose = (typeof filePurposes)[number];

export interface WaitingFile {
  id: string;
  owner: string;
  purpose: FilePurpose;
  /** The conversation in which it was chosen, or "new". Empty for references, which belong to whatever is asked next. */
  threadKey: string;
  name: string;
  file: Blob;
  /** Milliseconds of this device's clock. */
  chosenAtMs: number;
  /** The code with which the server refused it. Another attempt does not help. */
  refusal: string | null;
}

type FileName = Pick<WaitingFile, "owner" | "threadKey" | "id">;

/** One person's limits: enough for several questions, and well below the hundreds of megabytes that browsers give a site at least. */
const most = { files: 20, bytes: 150 * 1024 * 1024 };

const kind: Kind<WaitingFile> = {
  version: 1,
  stamped: true,
  read: (stored) => {
    if (!isRecord(stored) || !(stored.file instanceof Blob)) return undefined;
    const { id, owner, threadKey, name, file, chosenAtMs, refusal } = stored;
    const purpose = filePurposes.find((known) => known === stored.purpose);
    if (typeof id !== "string" || typeof owner !== "string" || typeof threadKey !== "string" || typeof name !== "string") return undefined;
    if (!purpose || typeof chosenAtMs !== "number") return undefined;
    return { id, owner, purpose, threadKey, name, file, chosenAtMs, refusal: typeof refusal === "string" ? refusal : null };
  },
};

const keyOfFile = ({ owner, threadKey, id }: FileName) => filesOfThread(owner, threadKey) + id;

const isOld = ({ chosenAtMs }: WaitingFile) => Math.abs(Date.now() - chosenAtMs) > waitingFileMs;

/** The oldest first. */
export async function listWaitingFiles(owner: string): Promise<WaitingFile[]> {
  const files = await listStored(kind, filesOf(owner));
  return files.filter((file) => !isOld(file)).sort((one, other) => one.chosenAtMs - other.chosenAtMs);
}

/** Any result but `kept` means that the file is lost when this page is closed. */
export async function keepWaitingFile(file: WaitingFile): Promise<Kept> {
  const others = (await listWaitingFiles(file.owner)).filter(({ id }) => id !== file.id);
  const bytes = others.reduce((sum, other) => sum + other.file.size, file.file.size);
  if (others.length >= most.files || bytes > most.bytes) return "full";
  return await writeStored(kind, keyOfFile(file), file);
}

export async function readWaitingFile(file: FileName): Promise<WaitingFile | undefined> {
  return await readStored(kind, keyOfFile(file));
}

/** The entry that removes the file, for the same transaction that adds it to its draft or to the references. */
export function removalOf(file: FileName): Entry {
  return { kind, key: keyOfFile(file), value: undefined };
}

export async function removeWaitingFile(file: FileName): Promise<void> {
  await removeStored(kind, keyOfFile(file));
}

/** Deletes those that have waited for too long, of everybody. */
export async function dropOldFiles(): Promise<void> {
  for (const file of await listStored(kind, filesPrefix)) if (isOld(file)) await removeWaitingFile(file);
}
