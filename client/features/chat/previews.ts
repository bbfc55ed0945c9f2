/** Object URLs of chosen pictures, to show them before they are uploaded. By the upload's id, and after the upload by the file's. */
const previews = new Map<string, string>();

export function previewOf(id: string): string | undefined {
  return previews.get(id);
}

export function addPreview(id: string, file: Blob): void {
  if (file.type.startsWith("image/") && !previews.has(id)) previews.set(id, URL.createObjectURL(file));
}

export function dropPreview(id: string): void {
  const address = previews.get(id);
  if (address) URL.revokeObjectURL(address);
  previews.delete(id);
}

/** The upload has become a file on the server. */
export function movePreview(id: string, fileId: string): void {
  const address = previews.get(id);
  if (address) previews.set(fileId, address);
  previews.delete(id);
}

export function dropAllPreviews(): void {
  for (const id of [...previews.keys()]) dropPreview(id);
}
