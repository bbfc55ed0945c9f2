/** Stores the reference pictures (those to begin from) on the device like a draft, and adds new ones when their upload ends. */
import { beginClipWith, useClipWish } from "#client/lib/clip-wish.ts";
import { addReference, filesOfWish, removeReference, usePictureWish } from "#client/lib/picture-wish.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { onFileEvent } from "#client/offline/file-events.ts";
import { keepReferences, readReferences } from "#client/offline/references.ts";
import { putAway } from "./put-away.ts";
import { toReference } from "./settle-file.ts";
import { useUploads } from "./uploads.ts";

/** Whose pictures are shown. */
let shownFor: string | undefined;
const ownerNow = () => sessionStore.getState().user?.id;

/** Counts the uploads under way, because nothing is asked for before all its pictures are uploaded. */
function count(): void {
  if (shownFor === undefined) return;
  const { uploads } = useUploads.getState();
  const pending = uploads.filter(({ purpose }) => purpose === "reference").length;
  if (usePictureWish.getState().pending !== pending) usePictureWish.setState({ pending });
  const isPending = uploads.some(({ purpose }) => purpose === "first_picture");
  if (useClipWish.getState().isPending !== isPending) useClipWish.setState({ isPending });
}

/** Shows the stored pictures, unless a picture's button has put another one there in the meantime. */
async function showKeptReferences(): Promise<void> {
  const owner = ownerNow();
  if (owner === undefined || owner === shownFor) return;
  const { references, mask, first } = await readReferences(owner);
  if (owner !== ownerNow()) return;
  shownFor = owner;
  if (usePictureWish.getState().references.length === 0) usePictureWish.setState({ references, mask });
  if (useClipWish.getState().reference === null) useClipWish.setState({ reference: first });
  count();
}

/** Runs `change`, and deletes on the server the pictures that it removed before they were sent. */
export function discardBy(change: () => void): void {
  const files = () => [...filesOfWish(usePictureWish.getState()), useClipWish.getState().reference?.fileId ?? []].flat();
  const before = files();
  change();
  const left = new Set(files());
  void putAway(before.filter((id) => !left.has(id)));
}

/** A file that was deleted elsewhere. */
function forget(id: string): void {
  const { references, mask } = usePictureWish.getState();
  if (references.some(({ fileId }) => fileId === id)) removeReference(id);
  if (mask === id) usePictureWish.setState({ mask: null });
  if (useClipWish.getState().reference?.fileId === id) beginClipWith(null);
}

function keep(): void {
  // Somebody else has just signed in: removing the previous person's pictures from the screen must not change what is stored for them.
  if (shownFor === undefined || shownFor !== ownerNow()) return;
  const { references, mask } = usePictureWish.getState();
  void keepReferences(shownFor, { references, mask, first: useClipWish.getState().reference });
}

usePictureWish.subscribe((now, before) => {
  if (now.references !== before.references || now.mask !== before.mask) keep();
  // A picture's button replaces the pictures that were chosen before.
  if (now.given && now.given !== before.given) void putAway(filesOfWish(before).filter((id) => !filesOfWish(now).includes(id)));
});
useClipWish.subscribe((now, before) => {
  if (now.reference !== before.reference) keep();
});
onFileEvent((event) => {
  if (event.type === "deleted" && event.owner === ownerNow()) forget(event.id);
  if (event.type !== "stored" || event.file.owner !== ownerNow()) return;
  const reference = toReference(event.info);
  if (reference && event.file.purpose === "reference") addReference(reference);
  else if (reference && event.file.purpose === "first_picture") beginClipWith(reference);
});
sessionStore.subscribe(({ user }) => {
  if (user?.id === shownFor) return;
  shownFor = undefined;
  void showKeptReferences();
});
useUploads.subscribe(count);
void showKeptReferences();
