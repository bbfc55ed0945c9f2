import { paths } from "#client/paths.ts";

export function conversationPath(id: string): string {
  return `${paths.aiModels}?conversation=${id}`;
}
