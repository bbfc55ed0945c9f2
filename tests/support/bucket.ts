/** A bucket at a server from npm that speaks S3's protocol. */
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import S3rver from "@20minutes/s3rver";
import type { Bucket } from "#server/bucket.ts";

export interface RunningBucket {
  place: Bucket;
  close(): Promise<void>;
}

export async function startBucket(): Promise<RunningBucket> {
  const directory = await mkdtemp(path.join(tmpdir(), "tessera-bucket-"));
  const name = "people-files";
  const server = new S3rver({ address: "127.0.0.1", port: 0, silent: true, directory, configureBuckets: [{ name }] });
  const { port } = (await server.run()) as AddressInfo;
  const key = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
  return {
    place: { endpoint: new URL(`http://127.0.0.1:${port}`), region: "us-east-1", name, ...key, pathStyle: true },
    async close() {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}
