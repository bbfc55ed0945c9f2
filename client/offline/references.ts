/** Keeps on the device the uploaded pictures from which the next picture or clip begins, until it is asked for. */
import { waitingFileMs } from "#domain/periods.ts";
import type { Entry, Kind } from "./store.ts";
import { findStored, isRecord, readStored, writeAllStored } from "./store.ts";

export interface KeptReference {
  fileId: string;
  alternative: string;
  width: number;
  height: number;
}

export interface KeptReferences {
  references: readonly KeptReference[];
  /** The file of the mask that marks what to change in the first reference. */
  mask: string | null;
  /** The picture with which a clip begins. */
  first: KeptReference | null;
}

interface Stored extends KeptReferences {
  /** Milliseconds of this device's clock. The server deletes what was uploaded and never sent after the same time. */
  keptAtMs: number;
}

function toReference(value: unknown): KeptReference | undefined {
  if (!isRecord(value)) return undefined;
  const { fileId, alternative, width, height } = value;
  if (typeof fileId !== "string" || typeof alternative !== "string" || typeof width !== "number" || typeof height !== "number")
    return undefined;
  return { fileId, alternative, width, height };
}

const kind: Kind<Stored> = {
  version: 1,
  stamped: true,
  read: (stored) => {
    if (!isRecord(stored) || !Array.isArray(stored.references) || typeof stored.keptAtMs !== "number") return undefined;
    const references = stored.references.flatMap((each) => toReference(each) ?? []);
    const mask = typeof stored.mask === "string" && references.length > 0 ? stored.mask : null;
    return { references, mask, first: toReference(stored.first) ?? null, keptAtMs: stored.keptAtMs };
  },
};

const nothing: KeptReferences = { references: [], mask: null, first: null };

export async function readReferences(owner: string): Promise<KeptReferences> {
  const stored = await readStored(kind, `references:${owner}`);
  return stored && Math.abs(Date.now() - stored.keptAtMs) <= waitingFileMs ? stored : nothing;
}

/** The files from which pictures and clips begin; undefined if this version can't read them. */
export async function listReferenceFiles(owner: string): Promise<string[] | undefined> {
  const stored = await findStored(kind, `references:${owner}`);
  if (stored.state !== "found") return stored.state === "newer" ? undefined : [];
  const { references, mask, first } = stored.value;
  return [...references.map(({ fileId }) => fileId), ...(mask === null ? [] : [mask]), ...(first ? [first.fileId] : [])];
}

/** Removes a deleted file. The mask belongs to the first picture, so it is removed with it. */
export async function dropReference(owner: string, id: string): Promise<void> {
  if (!(await listReferenceFiles(owner))?.includes(id)) return;
  const { references, mask, first } = await readReferences(owner);
  await keepReferences(owner, {
    references: references.filter(({ fileId }) => fileId !== id),
    mask: mask === id || references[0]?.fileId === id ? null : mask,
    first: first?.fileId === id ? null : first,
  });
}

export function entryOfReferences(owner: string, { references, mask, first }: KeptReferences): Entry {
  const isEmpty = references.length === 0 && first === null;
  return { kind, key: `references:${owner}`, value: isEmpty ? undefined : { references, mask, first, keptAtMs: Date.now() } };
}

export async function keepReferences(owner: string, kept: KeptReferences): Promise<void> {
  await writeAllStored([entryOfReferences(owner, kept)]);
}
