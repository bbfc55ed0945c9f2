/**
 * The picture of an account. The session's `user_metadata.avatar_url` (spec §3) is the address of its small size. The row of a picture
 * is written before its files and deleted after them. So we always find files that no account uses: those of an upload that broke
 * off, of a replaced picture, or of a deleted account.
 */
import { randomUUID } from "node:crypto";
import type { AvatarSize, Crop } from "#domain/avatars.ts";
import { avatarAddress, avatarBytes, avatarSizes } from "#domain/avatars.ts";
import type { Account } from "../../contract/account/account.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { StoredFile } from "../../providers/storage/storage.ts";
import { sweepPage, sweepRows } from "../../queue/sweep-rows.ts";
import { makePicture } from "./pictures.ts";
import * as queries from "./queries.ts";
import { readAccount } from "./service.ts";

type AvatarDeps = Pick<Deps, "db" | "storage" | "log">;

const sizes = Object.keys(avatarSizes) as AvatarSize[];

function fileOf(name: string, size: AvatarSize): string {
  return `${size}-${name}`;
}

async function deletePicture({ db, storage }: AvatarDeps, name: string): Promise<void> {
  await Promise.all(sizes.map((size) => storage.delete(fileOf(name, size))));
  await queries.forgetAvatar(db, name);
}

/** Makes `name` the picture of the person, or none if it is null, and deletes the one before. */
async function replacePicture(deps: AvatarDeps, userId: string, name: string | null): Promise<Account> {
  const { account, before } = await inTransaction(deps.db, async (trx) => {
    // Locks the person's row first: of two changes at once the later one finds the earlier one's picture.
    await queries.updateProfile(trx, userId, { avatar_url: name === null ? null : avatarAddress(name, "small") });
    const before = await queries.giveUpAvatar(trx, userId);
    if (name !== null) await queries.ownAvatar(trx, userId, name);
    return { account: await readAccount(trx, userId), before };
  });
  if (before !== undefined)
    await deletePicture(deps, before).catch((error: unknown) =>
      deps.log.warn({ err: error }, "a replaced picture could not be deleted, will be tried again"),
    );
  return account;
}

/** Throws what makePicture throws. */
export async function changeAvatar(deps: AvatarDeps, userId: string, bytes: Buffer, crop: Crop | undefined): Promise<Account> {
  const picture = await makePicture(bytes, crop);
  const name = randomUUID();
  await queries.insertAvatar(deps.db, name);
  await Promise.all(sizes.map((size) => deps.storage.put(fileOf(name, size), pieces(picture[size]), avatarBytes)));
  return replacePicture(deps, userId, name);
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export async function removeAvatar(deps: AvatarDeps, userId: string): Promise<Account> {
  return replacePicture(deps, userId, null);
}

/** Undefined if no account uses the picture. */
export async function readAvatar(deps: AvatarDeps, name: string, size: AvatarSize): Promise<StoredFile | undefined> {
  return (await queries.isAvatar(deps.db, name)) ? deps.storage.get(fileOf(name, size)) : undefined;
}

interface OpenPicture extends StoredFile {
  size: AvatarSize;
}

/** The files of the person's picture; none without a picture. Read each to the end or destroy it. Throws if a file is lost. */
export async function openOwnPicture(deps: Pick<AvatarDeps, "db" | "storage">, userId: string): Promise<OpenPicture[]> {
  const name = await queries.selectAvatar(deps.db, userId);
  if (name === undefined) return [];
  const opened: OpenPicture[] = [];
  for (const size of sizes) {
    const file = await deps.storage.get(fileOf(name, size));
    if (file) opened.push({ ...file, size });
  }
  if (opened.length === sizes.length) return opened;
  for (const { content } of opened) content.destroy();
  // The picture was replaced or removed while its files were being opened.
  if ((await queries.selectAvatar(deps.db, userId)) !== name) return openOwnPicture(deps, userId);
  throw new Error(`the storage lacks a file of the picture ${name}`);
}

/** Deletes pictures that no account uses. Returns how many. If the files of one can't be deleted, a later call tries again. */
export async function deleteUnusedAvatars(deps: AvatarDeps, signal: AbortSignal): Promise<number> {
  return sweepRows(
    deps,
    "unused-pictures",
    () => queries.selectUnusedAvatars(deps.db, sweepPage),
    (name) => name,
    async (name) => {
      await deletePicture(deps, name);
      return true;
    },
    signal,
  );
}
