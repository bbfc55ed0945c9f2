import { readNote, writeNote } from "./reader.ts";

const note = "queries";

/** With these names in the query a page is drawn on the device, round the frame alone; the build tells them. */
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
