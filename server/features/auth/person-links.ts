/** Links that are mailed to a person: making one, and opening it. */
import { v7 as uuidv7 } from "uuid";
import { addMilliseconds } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { Trx } from "../../db/transaction.ts";
import { hashToken } from "../../http/secret-keys.ts";
import { countAttempts, networkKeys } from "../attempts/service.ts";
import { linkToken, linkTokenHashes, readLinkToken } from "../notifications/links.ts";
import type { AuthDeps } from "./callers.ts";
import * as links from "./link-queries.ts";

interface NewLink {
  /** By default a new id. */
  id?: string;
  userId: string;
  purpose: links.PersonPurpose;
  /** The address that the person gets by opening it, if any. */
  address?: string;
  /** When the way to sign in that it removes was added (disown-way.ts), in business time. */
  waysSince?: Date;
  lifeMs: number;
}

export interface MadeLink {
  id: string;
  expiresAt: Date;
}

export async function makeLink(trx: Trx, deps: Pick<AuthDeps, "config">, link: NewLink): Promise<MadeLink> {
  const { id = uuidv7(), userId, purpose, address, waysSince, lifeMs } = link;
  const wallNow = new Date();
  const expiresAt = addMilliseconds(wallNow, lifeMs);
  await links.insertLink(trx, {
    id,
    sign_up_id: null,
    user_id: userId,
    purpose,
    address: address ?? null,
    ways_since: waysSince ?? null,
    token_hash: hashToken(linkToken(deps.config, id)),
    expires_at: expiresAt,
    used_at: null,
    created_at: wallNow,
  });
  return { id, expiresAt };
}

export function linkInvalid(): DomainError {
  return new DomainError("link_invalid", "This link is no longer valid. Ask for a new one");
}

interface Opening {
  token: string;
  purpose: links.PersonPurpose;
  network: string;
}

/** Counts the try first. Throws `link_invalid`, and `too_many_attempts` with retryAfterSeconds. */
export async function openLink(deps: AuthDeps, { token, purpose, network }: Opening): Promise<links.PersonLink> {
  const linkId = readLinkToken(deps.config, token);
  await countAttempts(deps.db, [...networkKeys("link-address", network), ...(linkId === undefined ? [] : [`link:${linkId}` as const])]);
  if (linkId === undefined) throw linkInvalid();
  const link = await links.findPersonLink(deps.db, { tokenHashes: linkTokenHashes(deps.config, linkId), purpose }, new Date());
  if (!link) throw linkInvalid();
  return link;
}

/** A link that has an address. */
export interface AddressLink extends links.PersonLink {
  address: string;
}

type AddressPurpose = "change-email" | "undo-email" | "disown-way";

/** Throws what openLink throws. */
export async function openAddressLink(deps: AuthDeps, opening: Opening & { purpose: AddressPurpose }): Promise<AddressLink> {
  const link = await openLink(deps, opening);
  if (link.address === null) throw new Error("a link for an address has none");
  return { ...link, address: link.address };
}

/** Marks the link as used. Of several calls at once all but one throw `link_invalid`. The caller has locked the person. */
export async function spendLink(trx: Trx, linkId: string): Promise<void> {
  if (!(await links.spendPersonLink(trx, linkId, new Date()))) throw linkInvalid();
}
