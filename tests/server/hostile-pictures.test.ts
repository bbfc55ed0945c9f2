/** Files that pretend to be pictures, or are more than that: each is refused or becomes a small picture, and nothing else happens. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { crc32, deflateSync } from "node:zlib";
import type { LightMyRequestResponse } from "fastify";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Account } from "#contract/account/account.ts";
import { full } from "#tests/support/full.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, randomAddress } from "./auth-support.ts";

let product: AuthApp;
let person: TestPerson;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tessera-hostile-pictures-"));
  product = await createAuthApp({ STORAGE_DIR: folder });
});
afterAll(async () => {
  await product.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  person = await createPerson(product, product.db);
});

function upload(bytes: Buffer, { by = person, type = "image/png" } = {}): Promise<LightMyRequestResponse> {
  const headers = { authorization: `Bearer ${by.token}`, "content-type": type };
  return product.app.inject({ method: "PUT", url: "/api/account/avatar", headers, payload: bytes, remoteAddress: randomAddress() });
}
const addressIn = (answer: LightMyRequestResponse) => answer.json<Account>().avatarUrl ?? expect.fail(answer.body);
const fetchPicture = (address: string) => product.app.inject({ url: address });

const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** A chunk of a PNG (PNG specification, 5.3). */
function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

function header(width: number, height: number): Buffer {
  const data = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  return chunk("IHDR", data);
}

/** Rows of one colour, each behind the number of its filter. */
const rows = (width: number, height: number, colour: readonly number[]) =>
  deflateSync(Buffer.concat(Array.from({ length: height }, () => Buffer.from([0, ...Array.from({ length: width }, () => colour).flat()]))));

function png(...between: Buffer[]): Buffer {
  const image = chunk("IDAT", rows(8, 8, [255, 0, 0]));
  return Buffer.concat([signature, header(8, 8), ...between, image, chunk("IEND", Buffer.alloc(0))]);
}

const bombBytes = 300 * 1024 * 1024;

describe("a file that is more than a picture", () => {
  test("and moves, as an animated PNG, is kept as its first picture", async () => {
    const numbers = (...values: number[]) => Buffer.concat(values.map((value) => Buffer.from(new Uint32Array([value]).buffer).swap32()));
    const frame = (order: number) => chunk("fcTL", Buffer.concat([numbers(order, 8, 8, 0, 0), Buffer.from([0, 1, 0, 10, 0, 0])]));
    const second = chunk("fdAT", Buffer.concat([numbers(2), rows(8, 8, [0, 0, 255])]));
    const moving = Buffer.concat([
      signature,
      header(8, 8),
      chunk("acTL", numbers(2, 0)),
      frame(0),
      chunk("IDAT", rows(8, 8, [255, 0, 0])),
      frame(1),
      second,
      chunk("IEND", Buffer.alloc(0)),
    ]);
    const kept = await fetchPicture(addressIn(await upload(moving)));
    const { pages = 1, format } = await sharp(kept.rawPayload).metadata();
    expect([pages, format]).toEqual([1, "webp"]);
    const [red = 0, , blue = 0] = (await sharp(kept.rawPayload).stats()).channels.map(({ mean }) => mean);
    expect(red > 200 && blue < 50).toBe(true);
  });

  test("and says things in texts and profiles is kept without them", async () => {
    const script = Buffer.from("Comment\0<script>alert(1)</script><?php system(1); ?>");
    const packed = Buffer.concat([Buffer.from("x\0\0"), deflateSync(script)]);
    const kept = await fetchPicture(addressIn(await upload(png(chunk("tEXt", script), chunk("zTXt", packed), chunk("iTXt", script)))));
    expect(kept.rawPayload.toString("latin1")).not.toMatch(/script|php|alert/);
  });

  test("and unpacks to 300 MB, in a text, a profile or behind its last row, costs a fraction of that", async () => {
    const packed = deflateSync(Buffer.alloc(bombBytes));
    const named = Buffer.concat([Buffer.from("x\0\0"), packed]);
    expect(packed.length).toBeLessThan(400_000);
    const before = process.memoryUsage().rss;
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 2);
    const bombs = {
      text: png(chunk("zTXt", named)),
      "international text": png(chunk("iTXt", Buffer.concat([Buffer.from("x\0\x01\0\0\0"), packed]))),
      profile: png(chunk("iCCP", named)),
      "pixels behind the last row": Buffer.concat([signature, header(8, 8), chunk("IDAT", packed), chunk("IEND", Buffer.alloc(0))]),
    };
    for (const [name, bomb] of Object.entries(bombs)) expect([200, 415, 422], name).toContain((await upload(bomb)).statusCode);
    clearInterval(watch);
    console.info(`memory rose by ${Math.round((most - before) / 1024 ** 2)} MB`);
    expect(most - before).toBeLessThan(bombBytes / 2);
  });
});

describe("a file that is less than a picture", () => {
  test("is answered as refused or as a picture, whatever of its bytes is changed or missing", async () => {
    const seed = Math.floor(Date.now() / 1_000) % 1_000_000;
    const random = seededRandom(seed);
    const plain = sharp({ create: { width: 60, height: 40, channels: 3, background: "#a63d22" } });
    const tries = full ? 200 : 30;
    const seen = new Set<number>();
    for (const format of ["png", "jpeg", "gif", "webp", "avif"] as const) {
      const whole = await plain.clone().toFormat(format).toBuffer();
      for (let round = 0; round < tries; round += 1) {
        const changed = Buffer.from(whole);
        for (let count = 1 + random(6); count > 0; count -= 1) changed[random(Math.min(changed.length, 200))] = random(256);
        const { statusCode, headers } = await upload(random(3) === 0 ? changed.subarray(0, random(changed.length)) : changed);
        seen.add(statusCode);
        expect([200, 413, 415, 422], `${format}, seed ${seed}, round ${round}`).toContain(statusCode);
        expect(headers["content-type"]).toMatch(/^application\/(problem\+)?json/);
      }
    }
    expect([...seen]).toEqual(expect.arrayContaining([200, 415, 422]));
  });

  test("makes the server ask nobody: neither drawings with addresses in them nor lists of addresses are read", async () => {
    let asked = 0;
    const trap = createServer((socket) => {
      asked += 1;
      socket.destroy();
    }).listen(0, "127.0.0.1");
    await once(trap, "listening");
    const address = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/x.png`;
    const files = [
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="${address}" width="9" height="9"/></svg>`,
      `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "${address}">]><svg xmlns="http://www.w3.org/2000/svg"><text>&x;</text></svg>`,
      `<?xml version="1.0"?><?xml-stylesheet href="${address}"?><svg xmlns="http://www.w3.org/2000/svg"/>`,
      `push graphic-context\nviewbox 0 0 9 9\nimage over 0,0 9,9 '${address}'\npop graphic-context`,
      `%!PS\n(${address}) run`,
      `#EXTM3U\n#EXTINF:1,\n${address}`,
      `[InternetShortcut]\nURL=${address}`,
      address,
    ];
    for (const file of files)
      for (const type of ["image/svg+xml", "image/png", "application/octet-stream"])
        expect((await upload(Buffer.from(file), { type })).json(), file).toMatchObject({ status: 415, code: "picture_unsupported" });
    trap.close();
    expect(asked).toBe(0);
  });
});

test("a picture is its person's alone: nobody else changes or removes it, not with the same bytes either", async () => {
  const other = await createPerson(product, product.db);
  const bytes = png();
  const [mine, theirs] = [addressIn(await upload(bytes)), addressIn(await upload(bytes, { by: other }))];
  expect(mine).not.toBe(theirs);
  const removal = { method: "DELETE", url: "/api/account/avatar", headers: { authorization: `Bearer ${other.token}` } } as const;
  expect((await product.app.inject(removal)).statusCode).toBe(200);
  expect([(await fetchPicture(theirs)).statusCode, (await fetchPicture(mine)).statusCode]).toEqual([404, 200]);
  for (const method of ["PUT", "DELETE", "POST"] as const)
    expect((await product.app.inject({ method, url: mine, headers: removal.headers, payload: bytes })).statusCode).toBeGreaterThanOrEqual(
      404,
    );
  expect((await product.app.inject({ method: "PUT", url: "/api/account/avatar", payload: bytes })).statusCode).toBe(401);
  const read = await fetchPicture(mine);
  expect(read.headers).toMatchObject({
    "content-type": "image/webp",
    "content-disposition": "inline",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  });
  const name = mine.split("/")[2] ?? "";
  for (const address of [
    `/avatars/..%2f..%2f${name}/96.webp`,
    `/avatars/${name}%2f..%2f${name}/96.webp`,
    `/avatars/small-${name}/96.webp`,
    "/avatars/%00/96.webp",
  ])
    expect((await fetchPicture(address)).statusCode, address).toBe(404);
});
