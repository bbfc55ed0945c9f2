/**
 * A conversation is a tree: an edited question, or an answer asked for again, is a sibling of the first one. The screen shows one
 * branch.
 */

interface Place {
  id: string;
  parentId: string | null;
}

/** The messages from the first to `headId`, or to the newest if `headId` is missing or unknown. */
export function branchTo<Message extends Place>(all: readonly Message[], headId: string | null): Message[] {
  const byId = new Map(all.map((message) => [message.id, message]));
  const branch: Message[] = [];
  let message = (headId === null ? undefined : byId.get(headId)) ?? all.at(-1);
  while (message) {
    branch.push(message);
    byId.delete(message.id);
    message = message.parentId === null ? undefined : byId.get(message.parentId);
  }
  return branch.reverse();
}

/** All versions of a message, including itself, oldest first. */
export function versionsOf<Message extends Place>(all: readonly Message[], { parentId }: Place): Message[] {
  return all.filter((message) => message.parentId === parentId);
}

/** The end of the branch through a message, taking the newest version at each step. */
export function endAfter<Message extends Place>(all: readonly Message[], message: Message): Message {
  const next = all.findLast(({ parentId }) => parentId === message.id);
  return next ? endAfter(all, next) : message;
}
