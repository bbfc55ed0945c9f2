/** Files in a bucket of any server that speaks S3's protocol: Amazon's, Cloudflare's, MinIO, Garage, Ceph … */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { S3Client } from "@aws-sdk/client-s3";
import type { Bucket } from "../../bucket.ts";
import { refuseWithinTransaction } from "../../db/transaction.ts";
import { Outage } from "../../failures.ts";
import type { ByteRange, FileStorage } from "./storage.ts";
import { assertFileName, bounded } from "./storage.ts";

const connectionTimeoutMs = 5_000;
/** Until the server begins to answer. */
const requestTimeoutMs = 30_000;
/** While bytes flow, this long without any. */
const idleTimeoutMs = 60_000;
/** A file is sent in parts of this size, of which few are in memory. The protocol allows 10,000 parts: 160 GB. */
const partBytes = 16 * 1024 * 1024;
const partsAtOnce = 2;
/** No upload takes this long: what is older was left by a process that was killed. */
const leftoverMs = 24 * 60 * 60_000;

/** The server is overloaded, does not accept our key, or lacks the bucket: nothing that trying another file would change. */
class StorageOutage extends Outage {
  override readonly name = "StorageOutage";
}

interface ServiceError {
  name?: string;
  $metadata?: { httpStatusCode?: number };
}

const statusOf = (error: unknown) => (error as ServiceError).$metadata?.httpStatusCode;
const isMissing = (error: unknown) => statusOf(error) === 404 && (error as ServiceError).name !== "NoSuchBucket";

function toStorageError(error: unknown): unknown {
  const status = statusOf(error);
  const { name } = error as ServiceError;
  const isOutage = status !== undefined && (status >= 500 || [401, 403, 408, 429].includes(status) || name === "NoSuchBucket");
  // The message names the bucket and the file, and nothing of what is in it.
  return isOutage ? new StorageOutage(`the file storage answered ${status} ${name ?? ""}`, { cause: error }) : error;
}

async function orMissing<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw toStorageError(error);
  });
}

/** For servers that answer a range with the whole file. */
async function* slice(content: AsyncIterable<Uint8Array>, { first, last }: ByteRange): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const chunk of content) {
    if (at + chunk.length > first) yield chunk.subarray(Math.max(first - at, 0), Math.min(last + 1 - at, chunk.length));
    at += chunk.length;
    if (at > last) return;
  }
}

/** `bytes 0-2/103` or `bytes *\/103`. */
function sizeIn(contentRange: string | undefined): number | undefined {
  const size = /\/(\d+)$/.exec(contentRange ?? "")?.[1];
  return size === undefined ? undefined : Number(size);
}

/** The library is loaded with the first file. */
const library = () => import("@aws-sdk/client-s3");

class S3Storage implements FileStorage {
  private readonly bucket: Bucket;
  private client: Promise<S3Client> | undefined;

  constructor(bucket: Bucket) {
    this.bucket = bucket;
  }

  private async connect(): Promise<S3Client> {
    const { S3Client } = await library();
    const { endpoint, region, accessKeyId, secretAccessKey, pathStyle } = this.bucket;
    const client = new S3Client({
      ...(endpoint ? { endpoint: endpoint.href } : {}),
      region,
      credentials: { accessKeyId, secretAccessKey },
      forcePathStyle: pathStyle,
      maxAttempts: 3,
      // Servers other than Amazon's often lack the checksums that the library uses by default. TCP and TLS have their own.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      requestHandler: {
        connectionTimeout: connectionTimeoutMs,
        requestTimeout: requestTimeoutMs,
        throwOnRequestTimeout: true,
        socketTimeout: idleTimeoutMs,
      },
    });
    void this.abortLeftovers(client).catch(() => {});
    return client;
  }

  private open(): Promise<S3Client> {
    refuseWithinTransaction("The file storage");
    this.client ??= this.connect();
    return this.client;
  }

  private place(name: string): { Bucket: string; Key: string } {
    refuseWithinTransaction("The file storage");
    assertFileName(name);
    return { Bucket: this.bucket.name, Key: name };
  }

  /** The parts of uploads that were never completed cost room and are in no list of files. */
  private async abortLeftovers(client: S3Client): Promise<void> {
    const { AbortMultipartUploadCommand, ListMultipartUploadsCommand } = await library();
    const { name: Bucket } = this.bucket;
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    for (const { Key, UploadId, Initiated } of Uploads)
      if (Initiated && Initiated.getTime() < Date.now() - leftoverMs)
        await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  }

  async put(name: string, content: AsyncIterable<Uint8Array>, maximumBytes: number): Promise<number> {
    const place = this.place(name);
    const client = await this.open();
    const { Upload } = await import("@aws-sdk/lib-storage");
    let bytes = 0;
    let fault: { reason: unknown } | undefined;
    async function* counted() {
      try {
        for await (const chunk of bounded(maximumBytes)(content)) {
          bytes += chunk.length;
          yield chunk;
        }
      } catch (reason) {
        // Kept, because the library may instead throw an error from aborting the upload.
        fault = { reason };
        throw reason;
      }
    }
    // A small file is one request. A larger one exists once its parts are joined. If anything fails before, the parts are dropped.
    const Body = Readable.from(counted(), { objectMode: false });
    const upload = new Upload({ client, params: { ...place, Body }, partSize: partBytes, queueSize: partsAtOnce });
    try {
      await upload.done();
      return bytes;
    } catch (error) {
      Body.destroy();
      throw fault ? fault.reason : toStorageError(error);
    }
  }

  async get(name: string, range?: ByteRange) {
    const place = this.place(name);
    const client = await this.open();
    const { GetObjectCommand } = await library();
    const Range = range && `bytes=${range.first}-${range.last}`;
    try {
      const found = await orMissing(client.send(new GetObjectCommand({ ...place, Range })));
      if (!found?.Body) return undefined;
      const content = found.Body as Readable;
      const whole = sizeIn(found.ContentRange);
      if (range && whole === undefined)
        return { bytes: found.ContentLength ?? 0, content: Readable.from(slice(content, range), { objectMode: false }) };
      return { bytes: whole ?? found.ContentLength ?? 0, content };
    } catch (error) {
      if (statusOf(error) !== 416) throw error;
      // The range begins after the end of the file.
      const bytes = await this.size(name);
      return bytes === undefined ? undefined : { bytes, content: Readable.from([]) };
    }
  }

  private async size(name: string): Promise<number | undefined> {
    const place = this.place(name);
    const client = await this.open();
    const { HeadObjectCommand } = await library();
    return (await orMissing(client.send(new HeadObjectCommand(place))))?.ContentLength;
  }

  async exists(name: string): Promise<boolean> {
    return (await this.size(name)) !== undefined;
  }

  async delete(name: string): Promise<void> {
    const place = this.place(name);
    const client = await this.open();
    const { DeleteObjectCommand } = await library();
    await orMissing(client.send(new DeleteObjectCommand(place)));
  }

  /** Asks for a file that does not exist. Only if the key is accepted and the bucket exists, the answer is that there is no such file. */
  async check(): Promise<void> {
    await this.get(randomUUID());
  }
}

export function createS3Storage(bucket: Bucket): FileStorage {
  return new S3Storage(bucket);
}
