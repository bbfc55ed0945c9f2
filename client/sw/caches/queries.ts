import { readNote, writeNote } from "./reader.ts";

const note = "queries";

/** Fetches the list of query parameters with which a page is rendered on the device inside the frame. The build writes the list. */
export async function noteQueries(): Promise<void> {
  const response = await fetch("/queries.json", { cache: "no-cache" });
  if (!response.ok) throw new Error(`/queries.json → ${response.status}`);
  const queries = (await response.json()) as Record<string, string[]>;
  await writeNote(note, JSON.stringify(queries));
}

export async function isDrawnOnDevice({ pathname, searchParams }: URL): Promise<boolean> {
  const queries = JSON.parse((await readNote(note)) ?? "{}") as Record<string, string[]>;
  return queries[pathname]?.some((name) => searchParams.has(name)) ?? false;
}
