import type { PictureOptions } from "../../contract/generations/generations.ts";
import type { Executor } from "../../db/transaction.ts";

interface Asked {
  id: string;
  userId: string;
  turn: { conversationId: string } | null;
}

/**
 * Writes how pictures were asked for. Uploaded pictures to begin from belong to the conversation from now on, like files attached to a
 * question.
 */
export async function keepPictureOptions(executor: Executor, { id, userId, turn }: Asked, picture: PictureOptions): Promise<void> {
  await executor
    .updateTable("generations")
    .set({ options: JSON.stringify(picture) })
    .where("id", "=", id)
    .execute();
  const { references = [], mask } = picture;
  const files = mask === undefined ? references : [...references, mask];
  if (!turn || files.length === 0) return;
  await executor
    .updateTable("files")
    .set({ conversation_id: turn.conversationId })
    .where("id", "in", files)
    .where("user_id", "=", userId)
    .where("kind", "=", "attachment")
    .where("conversation_id", "is", null)
    .execute();
}
