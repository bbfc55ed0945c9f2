import sharp from "sharp";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Conversation } from "#contract/conversations.ts";
import type { FileInfo } from "#contract/files.ts";
import type { Attachable } from "#domain/attachments.ts";
import { attachmentLimits, readAttachments } from "#domain/attachments.ts";
import { catalogue, findModel } from "#domain/models.ts";
import type { Bucket } from "#server/bucket.ts";
import { deleteFiles } from "#server/features/files/service.ts";
import type { AnswerProcess, RunningModels } from "#tests/support/answers.ts";
import { ask, call, send } from "#tests/support/answers.ts";
import { startBucket } from "#tests/support/bucket.ts";
import { full } from "#tests/support/full.ts";
import { makePdf, packedSpaces } from "#tests/support/make-pdf.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, randomAddress } from "./auth-support.ts";
import type { FilesProduct } from "./files-support.ts";
import { startFilesProduct } from "./files-support.ts";

let world: FilesProduct;
let models: RunningModels;
let product: AuthApp;
let api: AnswerProcess;
let ada: TestPerson;

beforeAll(async () => {
  world = await startFilesProduct();
  ({ models, product, api } = world);
});
afterAll(() => world.close());
beforeEach(async () => {
  ada = await createPerson(product, product.db, { plan: "professional" });
});

const upload = (bytes: Buffer, name = "file", as = ada, to = product) =>
  to.app.inject({
    method: "POST",
    url: `/api/files?name=${encodeURIComponent(name)}`,
    headers: { authorization: `Bearer ${as.token}` },
    payload: bytes,
    remoteAddress: randomAddress(),
  });
const variablesOf = ({ endpoint, region, name, accessKeyId, secretAccessKey }: Bucket) => ({
  ...{ STORAGE_S3_BUCKET: name, STORAGE_S3_ENDPOINT: endpoint?.href, STORAGE_S3_REGION: region },
  ...{ STORAGE_S3_ACCESS_KEY_ID: accessKeyId, STORAGE_S3_SECRET_ACCESS_KEY: secretAccessKey },
});
async function attach(bytes: Buffer, name?: string, as = ada): Promise<FileInfo> {
  const answer = await upload(bytes, name, as);
  expect(answer.statusCode, answer.payload).toBe(201);
  return answer.json<FileInfo>();
}
const png = (width = 40, height = 30, background = "teal") =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
const refusalOf = async (request: object) => {
  const answer = await send(api, ada, request);
  return [answer.status, ((await answer.json()) as { code: string }).code];
};
const conversationOf = async (id: string) => (await product.get(`/api/conversations/${id}`, ada.token)).json<Conversation>();

/** What the model was asked last, in its provider's form. */
type Part = Record<string, unknown>;
const lastParts = () => models.lastMessages().at(-1)?.content as unknown as string | Part[];

describe("a picture goes to each provider in its form", () => {
  test.each([
    ["gpt-6-luna", 1, { type: "input_image", detail: "auto", image_url: expect.stringMatching(/^data:image\/jpeg;base64,/) }],
    ["claude-haiku-5-5", 1, { type: "image", source: { type: "base64", media_type: "image/jpeg", data: expect.any(String) } }],
    ["gemini-3.5-flash-lite", 1, { type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/jpeg;base64,/) } }],
  ])("%s", async (model, quotedCredits, expected) => {
    const { id } = await attach(await png());
    const { text, receipt } = await ask(api, ada, { model, quotedCredits, prompt: "What is on it?", attachments: [id] });
    expect(lastParts()).toEqual([expected, expect.objectContaining({ text: "What is on it?" })]);
    expect(text).toContain("a picture of 40 × 30 pixels");
    expect(receipt).toMatchObject({ status: "completed", chargedCredits: quotedCredits });
  });
});

describe("a PDF", () => {
  const pages = ["The first page speaks of mosaics and of their makers", "The second page speaks of glass, gold and of stone"];

  test.each([
    ["gpt-6-luna", { type: "input_file", filename: "report.pdf", file_data: expect.stringMatching(/^data:application\/pdf;base64,/) }],
    ["claude-haiku-5-5", { type: "document", title: "report.pdf", source: expect.objectContaining({ media_type: "application/pdf" }) }],
  ])("goes as it is to %s", async (model, expected) => {
    const { id } = await attach(makePdf(pages), "report.pdf");
    const { text } = await ask(api, ada, { model, prompt: "Sum it up", attachments: [id] });
    expect(lastParts()).toEqual([expected, expect.objectContaining({ text: "Sum it up" })]);
    expect(text).toContain("a PDF of 2 pages");
  });

  test("goes as its text to a model that takes no PDF, and to one that has no room for its pages, as far as there is room", async () => {
    const { id, ...file } = await attach(makePdf(pages), "report.pdf");
    expect(file).toMatchObject({ contentType: "application/pdf", pages: 2, textBytes: expect.any(Number) });
    await ask(api, ada, { model: "deepseek-flash", prompt: "Sum it up", attachments: [id] });
    expect(lastParts()).toBe(`[Attached file "report.pdf"]\n${pages.join("\n\n")}\n[End of the attached file]\n\nSum it up`);
    const long = await attach(makePdf(Array.from({ length: 280 }, (_, index) => `${`page ${index + 1} `.repeat(9)}`)), "long.pdf");
    const { conversationId } = await ask(api, ada, { model: "claude-haiku-4-5", prompt: "Sum it up", attachments: [long.id] });
    const sent = lastParts();
    expect(sent).toContain(`[Attached file "long.pdf", pages 1 to `);
    expect(sent).not.toContain("page 280");
    expect(models.calls.list()[0]?.promptTokens).toBeLessThanOrEqual(15_100);
    const { messages } = await conversationOf(conversationId);
    expect(messages[0]?.parts[0]).toMatchObject({
      kind: "attachments",
      files: [{ name: "long.pdf", pages: 280, reading: { as: "text", cut: true } }],
    });
  });

  test("of scanned pages is refused by a model that can't see them", async () => {
    const { id } = await attach(makePdf(["", ""]), "scan.pdf");
    expect(await refusalOf({ model: "deepseek-flash", attachments: [id] })).toEqual([422, "attachment_unreadable"]);
    expect((await ask(api, ada, { attachments: [id] })).text).toContain("a PDF of 2 pages");
  });
});

describe.each(["a folder", "a bucket"] as const)("for files in %s, an upload is refused by its content, in words", (place) => {
  let world: AuthApp;
  let bucket: Awaited<ReturnType<typeof startBucket>> | undefined;
  let person: TestPerson;
  beforeAll(async () => {
    bucket = place === "a bucket" ? await startBucket() : undefined;
    world = bucket ? await createAuthApp(variablesOf(bucket.place)) : product;
    person = await createPerson(world, world.db, { plan: "professional" });
  });
  afterAll(async () => {
    if (!bucket) return;
    expect(await bucket.keys()).toHaveLength(1);
    await world.close();
    await bucket.close();
  });

  const bomb = () => makePdf([packedSpaces(900)]);
  const costly: [string, () => Buffer, number, string] = ["a PDF that unpacks to all memory there is", bomb, 422, "file_exhausting"];
  test.each<[string, () => Buffer, number, string]>([
    ...(full || place === "a folder" ? [costly] : []),
    ["a PDF of too many pages", () => makePdf(Array.from({ length: attachmentLimits.pages + 1 }, () => "x")), 413, "file_pages"],
    [
      "a PDF with a password",
      () =>
        makePdf(
          ["secret"],
          `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${"41".repeat(32)}> /U <${"42".repeat(32)}> /P -4 >> /ID [<41> <41>]`,
        ),
      422,
      "file_encrypted",
    ],
    ["a PDF that is none", () => Buffer.from("%PDF-1.7\nnothing"), 422, "file_damaged"],
    ["a photo of a phone", () => Buffer.from("\0\0\0\x20ftypheic\0\0\0\0", "latin1"), 415, "file_heic"],
    [
      "HTML behind a picture's beginning",
      () => Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from("<script>")]),
      422,
      "file_damaged",
    ],
  ])("%s", async (_name, bytes, status, code) => {
    const answer = await upload(bytes(), "file", person, world);
    expect([answer.statusCode, answer.json().code]).toEqual([status, code]);
  });

  test("but a PDF in which a page hides another kind of file is kept, and served as nothing but a download", async () => {
    const hiding = Buffer.concat([makePdf(["words of a page"]), Buffer.from("\nPK\x03\x04<script>alert(1)</script>", "latin1")]);
    const { id } = (await upload(hiding, "a.html", person, world)).json<FileInfo>();
    const answer = await world.get(`/api/files/${id}`, person.token);
    expect(answer.headers).toMatchObject({
      "content-type": "application/pdf",
      "content-disposition": expect.stringMatching(/^attachment; filename="a.pdf"/),
    });
  });
});

describe("an upload", () => {
  test("an SVG is text, for a model as for a browser", async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    const { id, contentType, name } = await attach(svg, "drawing.svg");
    expect([contentType, name]).toEqual(["text/plain", "drawing.txt"]);
    await ask(api, ada, { prompt: "Explain it", attachments: [id] });
    expect(lastParts()).toContain(svg.toString());
  });
});

describe("what is attached", () => {
  test("stays with its question: shown again, asked again, edited, in the history of the next question, and exported", async () => {
    const { id } = await attach(Buffer.from("The word is tessellate."), "word.txt");
    const first = await ask(api, ada, { prompt: "Which word?", attachments: [id] });
    const { conversationId, questionId, answerId } = first;
    const shown = {
      kind: "attachments",
      files: [expect.objectContaining({ fileId: id, name: "word.txt", reading: { as: "text", pages: null, cut: false } })],
    };
    expect((await conversationOf(conversationId)).messages[0]?.parts).toEqual([shown, { kind: "text", text: "Which word?" }]);
    await ask(api, ada, { prompt: undefined, conversationId, questionId });
    expect(lastParts()).toContain("tessellate");
    await ask(api, ada, { prompt: "Which one word?", conversationId, parentId: null, attachments: [id] });
    expect(lastParts()).toContain("tessellate");
    await ask(api, ada, { prompt: "And backwards?", conversationId, parentId: answerId });
    expect(models.lastMessages()[0]?.content).toContain("tessellate");
    expect(lastParts()).toBe("And backwards?");
  });

  test("and deleted is told to the model in the history, and can't be attached any more", async () => {
    const { id } = await attach(Buffer.from("gone soon"), "gone.txt");
    const { conversationId } = await ask(api, ada, { prompt: "Read it", attachments: [id] });
    await deleteFiles(product.db, ada.userId, [id]);
    await ask(api, ada, { prompt: "What was in it?", conversationId });
    expect(models.lastMessages()[0]?.content).toBe('[Attached file "gone.txt": it was deleted]\n\nRead it');
    expect(await refusalOf({ prompt: "Again", conversationId, attachments: [id] })).toEqual([410, "attachment_gone"]);
  });

  test("goes with the conversation, and is in no other", async () => {
    const { id } = await attach(Buffer.from("mine"), "mine.txt");
    const { conversationId } = await ask(api, ada, { attachments: [id] });
    expect(await refusalOf({ attachments: [id] })).toEqual([410, "attachment_gone"]);
    const eve = await createPerson(product, product.db, { plan: "starter" });
    const hers = await attach(Buffer.from("hers"), "hers.txt", eve);
    expect(await refusalOf({ attachments: [hers.id] })).toEqual([410, "attachment_gone"]);
    const removed = {
      method: "DELETE",
      url: `/api/conversations/${conversationId}`,
      headers: { authorization: `Bearer ${ada.token}` },
    } as const;
    expect((await product.app.inject(removed)).statusCode).toBe(204);
    expect((await product.get(`/api/files/${id}`, ada.token)).statusCode).toBe(404);
    expect(await product.db.selectFrom("file_texts").select("file_id").where("file_id", "=", id).execute()).toEqual([]);
  });

  test("of more bytes than a provider takes goes as its text, and is said to; an earlier one makes room for a later one", async () => {
    const largePdf = async (page: string, name: string) => {
      const { id } = await attach(makePdf([page]), name);
      await product.db.updateTable("files").set({ bytes: 9_000_000 }).where("id", "=", id).execute();
      return id;
    };
    const pdf = expect.objectContaining({ type: "input_file" });
    const [one, two] = [
      await largePdf("The first report is about glass", "one.pdf"),
      await largePdf("The second is about gold", "two.pdf"),
    ];
    const first = await ask(api, ada, { model: "gpt-6-luna", prompt: "Compare them", attachments: [one, two] });
    expect(lastParts()).toEqual([
      pdf,
      expect.objectContaining({ text: expect.stringContaining("The second is about gold") }),
      expect.objectContaining({ text: "Compare them" }),
    ]);
    const { conversationId } = first;
    const [shown] = (await conversationOf(conversationId)).messages[0]?.parts ?? [];
    expect(shown).toMatchObject({ files: [{ reading: { as: "pages" } }, { reading: { as: "text" } }] });
    const three = await largePdf("The third is about stone", "three.pdf");
    const next = await ask(api, ada, { model: "gpt-6-luna", prompt: "And this one?", conversationId, attachments: [three] });
    expect(lastParts()).toEqual([pdf, expect.objectContaining({ text: "And this one?" })]);
    expect(JSON.stringify(models.lastMessages()[0])).toContain("The first report is about glass");
    expect(next.receipt).toMatchObject({ trimmedMessages: 0 });
  });

  test("which is a picture and has no room any more ends the history before it, and the receipt says so", async () => {
    const largePicture = async () => {
      const { id } = await attach(await png());
      await product.db.updateTable("files").set({ bytes: 9_000_000 }).where("id", "=", id).execute();
      return id;
    };
    const first = await ask(api, ada, { model: "gpt-6-luna", prompt: "What is on it?", attachments: [await largePicture()] });
    const { conversationId } = first;
    const next = await ask(api, ada, { model: "gpt-6-luna", prompt: "And here?", conversationId, attachments: [await largePicture()] });
    expect(models.lastMessages()).toHaveLength(1);
    expect(next.receipt).toMatchObject({ status: "completed", trimmedMessages: 2 });
    const both = [await largePicture(), await largePicture()];
    expect(await refusalOf({ model: "gpt-6-luna", attachments: both })).toEqual([422, "attachments_too_large"]);
  });

  test("is refused before credits are held where the model can't read it or has no room for it", async () => {
    const { id } = await attach(await png());
    expect(await refusalOf({ model: "deepseek-flash", attachments: [id] })).toEqual([422, "attachment_unreadable"]);
    const five: string[] = [];
    for (let count = 0; count < 5; count += 1) five.push((await attach(await png())).id);
    expect(await refusalOf({ model: "gpt-5-mini", prompt: "7".repeat(5_000), attachments: five })).toEqual([422, "attachments_too_large"]);
    const wallet = await product.db.selectFrom("wallets").select("held").where("id", "=", ada.walletId).executeTakeFirstOrThrow();
    expect(wallet.held).toBe(0);
  });
});

describe("the memory for the files of questions", () => {
  const held = async () => {
    const { id } = await attach(await png());
    await product.db.updateTable("files").set({ bytes: 15_000_000 }).where("id", "=", id).execute();
    return send(api, ada, { model: "gpt-6-luna", prompt: "What is on it?", attachments: [id] });
  };
  const running = () =>
    product.db.selectFrom("generations").select("id").where("user_id", "=", ada.userId).where("status", "=", "streaming").execute();
  const stopAll = async (responses: readonly Response[]) => {
    for (const { id } of await running()) await call(api, ada, "POST", `/api/generations/${id}/stop`);
    for (const response of responses) await response.body?.cancel();
  };
  beforeEach(async () => {
    ada = await createPerson(product, product.db, { plan: "enterprise" });
  });
  afterEach(() => {
    models.faults.clear("*");
    models.pace.milliseconds = 0;
  });

  test("is limited for each provider, and is given back when an answer ends", async () => {
    models.faults.set({ model: "gpt-6-luna", fault: "hang", count: null, afterTokens: 0, delayMs: 0 });
    const silent = [await held(), await held(), await held()];
    expect(silent.map(({ status }) => status)).toEqual([200, 200, 200]);
    const refused = await held();
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: "model_unavailable", retryAfterSeconds: 10 });
    const small = async (model: string) => ({ model, prompt: "What is on it?", attachments: [(await attach(await png())).id] });
    const other = await ask(api, ada, await small("claude-haiku-5-5"));
    expect(other.receipt).toMatchObject({ status: "completed" });
    models.faults.clear("*");
    await stopAll(silent);
    expect((await ask(api, ada, await small("gpt-6-luna"))).receipt?.status).toBe("completed");
    const again = await held();
    expect(again.status).toBe(200);
    await stopAll([again]);
  });

  test("is given back as soon as the model has begun to answer", async () => {
    models.pace.milliseconds = 500;
    const speaking = [await held(), await held(), await held()];
    await expect
      .poll(async () => {
        speaking.push(await held());
        return speaking.at(-1)?.status;
      })
      .toBe(200);
    expect((await running()).length).toBeGreaterThanOrEqual(4);
    await stopAll(speaking);
  });
});

test("what is read of the files of a question fits each model, whatever they are", () => {
  const files: Attachable[] = [
    { name: "a.jpg", contentType: "image/jpeg", bytes: 900_000, pages: null, textBytes: null, pageEnds: null, tokenEnds: null },
    {
      name: "b.pdf",
      contentType: "application/pdf",
      bytes: 2_000_000,
      pages: 300,
      textBytes: 590_000,
      pageEnds: Array.from({ length: 300 }, (_, index) => (index + 1) * 1_900),
      tokenEnds: Array.from({ length: 300 }, (_, index) => (index + 1) * 1_100),
    },
    { name: "c.pdf", contentType: "application/pdf", bytes: 4_000, pages: 3, textBytes: 6, pageEnds: [2, 4, 6], tokenEnds: [2, 4, 6] },
    { name: "d.txt", contentType: "text/plain", bytes: 600_000, pages: null, textBytes: 600_000, pageEnds: null, tokenEnds: null },
  ];
  for (const model of catalogue.filter(({ inputTokenLimit }) => inputTokenLimit > 0))
    for (const promptTokens of [0, 3_000, 40_000])
      for (const chosen of [files, files.slice(1), files.toReversed(), [...files, ...files.slice(0, 1)]]) {
        const read = readAttachments(model, promptTokens, chosen).filter((reading) => typeof reading === "object");
        const tokens = read.reduce((sum, reading) => sum + reading.tokens, 0);
        expect(tokens, model.id).toBeLessThanOrEqual(Math.max(model.inputTokenLimit - promptTokens, 0));
      }
  expect(readAttachments(findModel("deepseek-flash") ?? expect.fail(), 0, files)).toEqual([
    "unreadable",
    expect.objectContaining({ as: "text", cut: true }),
    "unreadable",
    "too_large",
  ]);
});
