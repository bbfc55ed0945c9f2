/** What a person adds to their account: name, language of the mails, and a picture that is served as nothing but a picture. */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { LightMyRequestResponse } from "fastify";
import type { KyselyPlugin, PluginTransformQueryArgs, PluginTransformResultArgs } from "kysely";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Account } from "#contract/account/account.ts";
import { avatarBytes } from "#domain/avatars.ts";
import { changeAvatar, deleteUnusedAvatars } from "#server/features/account/avatars.ts";
import { makePicture } from "#server/features/account/pictures.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, randomAddress } from "./auth-support.ts";

let product: AuthApp;
let person: TestPerson;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tessera-pictures-"));
  product = await createAuthApp({ STORAGE_DIR: folder });
});
afterAll(async () => {
  await product.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  await product.asOwner("delete from avatars");
  await rm(folder, { recursive: true });
  await mkdir(path.join(folder, "incoming"), { recursive: true });
  person = await createPerson(product, product.db);
});

const headers = () => ({ authorization: `Bearer ${person.token}` });

function change(payload: object): Promise<LightMyRequestResponse> {
  return product.app.inject({ method: "PATCH", url: "/api/account", headers: headers(), payload });
}

async function upload(bytes: Buffer, type = "image/png", query = ""): Promise<LightMyRequestResponse> {
  // Uploads are counted by network.
  const remoteAddress = randomAddress();
  const sent = { ...headers(), "content-type": type };
  return product.app.inject({ method: "PUT", url: `/api/account/avatar${query}`, headers: sent, payload: bytes, remoteAddress });
}

const fetchPicture = (address: string | null) => product.app.inject({ url: address ?? "" });
const largeOf = (address: string | null) => fetchPicture(address?.replace("96.webp", "320.webp") ?? null);

async function storedFiles(): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

/** Puts a folder in the place of the stored file, so that it can't be deleted. Returns the place. */
async function exchangeForFolder(name: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries.find((entry) => entry.name === name) ?? expect.fail(`no file ${name}`);
  const place = path.join(found.parentPath, name);
  await rm(place);
  await mkdir(place);
  return place;
}

/** The process dies once the files are written: no person gets the picture. */
class FailingUpdates implements KyselyPlugin {
  transformQuery({ node }: PluginTransformQueryArgs) {
    if (node.kind === "UpdateQueryNode") throw new Error("cut off");
    return node;
  }

  async transformResult({ result }: PluginTransformResultArgs) {
    return result;
  }
}

/** Red on the left, blue on the right. */
async function twoColours(width: number, height: number): Promise<Buffer> {
  const half = { width: Math.floor(width / 2), height, channels: 3 } as const;
  const blue = await sharp({ create: { ...half, background: "#0000ff" } })
    .png()
    .toBuffer();
  return sharp({ create: { ...half, width, background: "#ff0000" } })
    .composite([{ input: blue, left: width - half.width, top: 0 }])
    .png()
    .toBuffer();
}

async function colourOf(picture: Buffer): Promise<"red" | "blue" | "mixed"> {
  const [red = 0, , blue = 0] = (await sharp(picture).stats()).channels.map(({ mean }) => mean);
  if (red > 200 && blue < 50) return "red";
  return blue > 200 && red < 50 ? "blue" : "mixed";
}

describe("a name", () => {
  test("of 1 to 100 code points is kept on one line, is in the session, and can be taken away", async () => {
    const name = "𝔸".repeat(100);
    expect((await change({ name: ` Ada \n Lovelace\t` })).json()).toMatchObject({ name: "Ada Lovelace" });
    expect((await change({ name })).json()).toMatchObject({ name });
    expect((await change({ name: `${name}x` })).json()).toMatchObject({ code: "validation_failed", fields: [{ field: "name" }] });
    expect((await change({})).json()).toMatchObject({ name });
    for (const blank of ["", "   ", "\u200b\u2060", null]) {
      await change({ name: "Ada" });
      expect((await change({ name: blank })).json()).toMatchObject({ name: null });
    }

    const session = (await product.join("named@example.com")) as { access_token: string; refresh_token: string; user: object };
    expect(session.user).toMatchObject({ user_metadata: { avatar_url: null } });
    expect(JSON.stringify(session.user)).not.toContain(`"name"`);
    await product.app.inject({
      method: "PATCH",
      url: "/api/account",
      headers: { authorization: `Bearer ${session.access_token}` },
      payload: { name: "Grace" },
    });
    const next = await product.post("/api/auth/refresh", { refresh_token: session.refresh_token });
    expect(next.json().user.user_metadata).toEqual({ avatar_url: null, name: "Grace" });
  });

  test("and a language of the product are all that can be changed here", async () => {
    expect((await change({ language: "ja" })).json()).toMatchObject({ language: "ja" });
    expect((await change({ language: "de-AT" })).json()).toMatchObject({ language: "de" });
    expect((await change({ language: "tlh" })).statusCode).toBe(400);
    for (const body of [{ role: "admin" }, { email: "a@b.example" }, { name: 7 }, { avatarUrl: "/x" }])
      expect((await change(body)).statusCode).toBe(400);
    const row = await product.db.selectFrom("users").selectAll().where("id", "=", person.userId).executeTakeFirstOrThrow();
    expect(row).toMatchObject({ role: "user", language: "de", name: null, avatar_url: null });
  });
});

describe("a picture", () => {
  test.each(["jpeg", "png", "webp", "avif", "gif"] as const)("as %s becomes two squares of WebP without metadata", async (format) => {
    const picture = await sharp(await twoColours(900, 600))
      .withMetadata({ exif: { IFD0: { Copyright: "somebody's secret" } } })
      .toFormat(format)
      .toBuffer();
    const { avatarUrl } = (await upload(picture, "application/octet-stream")).json<Account>();
    expect(avatarUrl).toMatch(/^\/avatars\/[\da-f-]{36}\/96\.webp$/);
    for (const [answer, size] of [
      [await fetchPicture(avatarUrl), 96],
      [await largeOf(avatarUrl), 320],
    ] as const) {
      expect(answer.headers).toMatchObject({
        "content-type": "image/webp",
        "x-content-type-options": "nosniff",
        "cache-control": "private, max-age=31536000, immutable",
        "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
      });
      const { width, height, format: kept, exif, icc, xmp, pages = 1 } = await sharp(answer.rawPayload).metadata();
      expect([width, height, kept, exif, icc, xmp, pages]).toEqual([size, size, "webp", undefined, undefined, undefined, 1]);
      expect(answer.rawPayload.includes("secret")).toBe(false);
    }
  });

  test("is cropped to the middle, or to the square asked for, of the picture as it stands upright", async () => {
    const wide = await twoColours(900, 300);
    const keptOf = async (query: string, bytes = wide) =>
      colourOf((await largeOf((await upload(bytes, "image/png", query)).json<Account>().avatarUrl)).rawPayload);
    expect(await keptOf("")).toBe("mixed");
    expect(await keptOf("?left=0&top=0&side=300")).toBe("red");
    expect(await keptOf("?left=600&top=0&side=300")).toBe("blue");
    // Turned by a quarter, what was on the left is at the top.
    const turned = await sharp(wide).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    expect([await keptOf("?left=0&top=0&side=300", turned), await keptOf("?left=0&top=600&side=300", turned)]).toEqual(["red", "blue"]);
    for (const query of ["?left=700&top=0&side=300", "?left=0&top=1&side=300", "?side=0", "?left=-1&side=10", "?side=99999"])
      expect((await upload(wide, "image/png", query)).json(), query).toMatchObject({ code: "validation_failed" });
  });

  test("replaces the one before, whose address and bytes are gone; so it is when it is taken away, and with the person", async () => {
    const first = (await upload(await twoColours(40, 40))).json<Account>().avatarUrl;
    const second = (await upload(await twoColours(50, 50))).json<Account>().avatarUrl;
    expect([(await fetchPicture(first)).statusCode, (await fetchPicture(second)).statusCode]).toEqual([404, 200]);
    expect(await storedFiles()).toBe(2);
    const removal = { method: "DELETE", url: "/api/account/avatar", headers: headers() } as const;
    expect((await product.app.inject(removal)).json()).toMatchObject({ avatarUrl: null });
    expect([(await fetchPicture(second)).statusCode, await storedFiles()]).toEqual([404, 0]);
    const third = (await upload(await twoColours(50, 50))).json<Account>().avatarUrl;
    await product.asOwner(`delete from users where id = '${person.userId}'`);
    expect((await fetchPicture(third)).statusCode).toBe(404);
    await product.db
      .updateTable("avatars")
      .set({ created_at: new Date(Date.now() - 3_601_000) })
      .execute();
    await deleteUnusedAvatars(product.deps, new AbortController().signal);
    expect([await storedFiles(), await product.db.selectFrom("avatars").selectAll().execute()]).toEqual([0, []]);
  });

  test("whose upload broke off leaves no file for longer than an hour", async () => {
    const failing = { ...product.deps, db: product.db.withPlugin(new FailingUpdates()) };
    await expect(changeAvatar(failing, person.userId, await twoColours(50, 50), undefined)).rejects.toThrow("cut off");
    expect(await storedFiles()).toBe(2);
    await deleteUnusedAvatars(product.deps, new AbortController().signal);
    expect(await storedFiles()).toBe(2);
    await product.db
      .updateTable("avatars")
      .set({ created_at: new Date(Date.now() - 3_601_000) })
      .execute();
    await deleteUnusedAvatars(product.deps, new AbortController().signal);
    expect(await storedFiles()).toBe(0);
  });

  test("whose files can't be deleted holds up none of the others, and is deleted once they can", async () => {
    const cutOff = { ...product.deps, db: product.db.withPlugin(new FailingUpdates()) };
    for (let pictures = 0; pictures < 3; pictures += 1)
      await expect(changeAvatar(cutOff, person.userId, await twoColours(50, 50), undefined)).rejects.toThrow("cut off");
    await product.asOwner("update avatars set created_at = created_at - interval '61 minutes'");
    const oldest = await product.db.selectFrom("avatars").select("name").orderBy("created_at").limit(2).execute();
    const inTheWay = await Promise.all(oldest.map(({ name }) => exchangeForFolder(`small-${name}`)));
    const sweep = () => deleteUnusedAvatars(product.deps, new AbortController().signal);
    await sweep();
    const left = product.db.selectFrom("avatars").select("name").orderBy("created_at");
    expect(await left.execute()).toEqual(oldest);
    const failures = product.db.selectFrom("sweep_failures").select("subject").where("sweep", "=", "unused-pictures");
    expect((await failures.execute()).map(({ subject }) => subject).toSorted()).toEqual(oldest.map(({ name }) => name).toSorted());

    for (const place of inTheWay) await rm(place, { recursive: true });
    await product.db.updateTable("sweep_failures").set({ retry_at: new Date() }).execute();
    await sweep();
    expect([await left.execute(), await failures.execute(), await storedFiles()]).toEqual([[], [], 0]);
  });

  test("has no address that can be guessed, and a wrong one is not cached", async () => {
    for (const address of [`/avatars/${randomUUID()}/96.webp`, "/avatars/x/96.webp", `/avatars/${person.userId}/320.webp`]) {
      const answer = await fetchPicture(address);
      expect([answer.statusCode, answer.headers["cache-control"]]).toEqual([404, "no-store"]);
    }
  });
});

describe("what is no picture we take", () => {
  const svg = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script><rect width="9" height="9"/></svg>',
  );

  test("is refused by its content, whatever it is called: SVG, HTML, PDF, TIFF, random bytes, nothing", async () => {
    const tiff = await sharp(await twoColours(8, 8))
      .tiff()
      .toBuffer();
    const refused = [
      svg,
      Buffer.from("<!doctype html><script>alert(1)</script>"),
      Buffer.from("%PDF-1.7\n"),
      tiff,
      randomBytes(5_000),
      Buffer.alloc(0),
    ];
    for (const bytes of refused)
      expect((await upload(bytes)).json(), bytes.toString("latin1", 0, 20)).toMatchObject({ status: 415, code: "picture_unsupported" });
    for (const type of ["text/html", "application/json", "multipart/form-data; boundary=x"])
      expect((await upload(await twoColours(8, 8), type)).json(), type).toMatchObject({ code: "picture_unsupported" });
    await expect(makePicture(Buffer.from("P5 8 8 255 "), undefined)).rejects.toMatchObject({ code: "picture_unsupported" });
  });

  test("but hides behind one is left behind: a picture with a page, an archive or SVG after its end is encoded anew", async () => {
    const polyglot = Buffer.concat([
      await twoColours(64, 64),
      Buffer.from("<script>alert(1)</script>"),
      svg,
      Buffer.from("PK\u0003\u0004"),
    ]);
    const kept = (await largeOf((await upload(polyglot)).json<Account>().avatarUrl)).rawPayload;
    for (const trace of ["script", "<svg", "PK\u0003\u0004"]) expect(kept.includes(trace)).toBe(false);
    // GIF that begins like a script, the old trick.
    const gif = await sharp(await twoColours(64, 64))
      .gif()
      .toBuffer();
    gif.write("GIF89a", 0, "latin1");
    expect((await largeOf((await upload(Buffer.concat([gif, Buffer.from("*/=1;alert(1)")]))).json<Account>().avatarUrl)).statusCode).toBe(
      200,
    );
  });

  test("moves is kept as its first picture", async () => {
    const frames = await Promise.all(
      ["#ff0000", "#0000ff"].map((background) =>
        sharp({ create: { width: 20, height: 20, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    );
    const animated = await sharp(frames, { join: { animated: true } })
      .gif({ loop: 0 })
      .toBuffer();
    expect((await sharp(animated).metadata()).pages).toBe(2);
    expect(await colourOf((await largeOf((await upload(animated)).json<Account>().avatarUrl)).rawPayload)).toBe("red");
  });

  test("is damaged or cut off is refused, and the picture before stays", async () => {
    const { avatarUrl } = (await upload(await twoColours(50, 50))).json<Account>();
    const whole = await sharp(randomBytes(300 * 300 * 3), { raw: { width: 300, height: 300, channels: 3 } })
      .jpeg()
      .toBuffer();
    const png = await sharp(whole).png().toBuffer();
    for (const bytes of [whole.subarray(0, whole.length / 2), png.subarray(0, png.length / 2)])
      expect((await upload(bytes)).json()).toMatchObject({ status: 422, code: "picture_damaged" });
    expect((await fetchPicture(avatarUrl)).statusCode).toBe(200);
  });

  test("is larger than 40 megapixels or 10 MB is refused before it is decoded", async () => {
    const bomb = await sharp({ create: { width: 10_000, height: 10_000, channels: 3, background: "#fff" } })
      .png({ compressionLevel: 9 })
      .toBuffer();
    expect(bomb.length).toBeLessThan(avatarBytes);
    const tooLarge = { status: 413, code: "picture_too_large" };
    expect((await upload(bomb)).json()).toMatchObject(tooLarge);
    // Nothing looks at the pixels: the answer is the same without them.
    expect((await upload(bomb.subarray(0, 200))).json()).toMatchObject(tooLarge);
    expect((await upload(Buffer.alloc(avatarBytes + 1))).json()).toMatchObject(tooLarge);
    const largest = await sharp({ create: { width: 8_000, height: 5_000, channels: 3, background: "#fff" } })
      .png()
      .toBuffer();
    expect((await upload(largest)).statusCode).toBe(200);
  });
});

test("a person uploads one picture at a time", async () => {
  const picture = await twoColours(2_000, 2_000);
  const answers = await Promise.all([upload(picture), upload(picture), upload(picture)]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(expect.arrayContaining([200, 429]));
  expect(answers.find(({ statusCode }) => statusCode === 429)?.json()).toMatchObject({ code: "rate_limited", retryAfterSeconds: 5 });
  expect((await upload(picture)).statusCode).toBe(200);
});
