/** Buckets at servers from npm that speak S3's protocol. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import S3rver from "@20minutes/s3rver";
import { createEmulator } from "emulate";
import type { Bucket } from "#server/bucket.ts";
import { freePort } from "#server/embedded/processes.ts";

export interface RunningBucket {
  place: Bucket;
  close(): Promise<void>;
}

const name = "people-files";

export async function startBucket(): Promise<RunningBucket & { keys(): Promise<string[]> }> {
  const directory = await mkdtemp(path.join(tmpdir(), "tessera-bucket-"));
  const server = new S3rver({ address: "127.0.0.1", port: 0, silent: true, directory, configureBuckets: [{ name }] });
  const { port } = (await server.run()) as AddressInfo;
  const key = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
  return {
    place: { endpoint: new URL(`http://127.0.0.1:${port}`), region: "us-east-1", name, ...key, pathStyle: true },
    async keys() {
      const files = await readdir(path.join(directory, name));
      return files.filter((file) => file.endsWith("_object"));
    },
    async close() {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

/** A server that takes any key, has no ranges and no uploads in parts. */
export async function startPlainBucket(): Promise<RunningBucket> {
  const server = await createEmulator({
    service: "aws",
    port: await freePort(),
    seed: { aws: { region: "us-east-1", s3: { buckets: [{ name }] } } },
  });
  const key = { accessKeyId: "EMULATE", secretAccessKey: "EMULATE" };
  return { place: { endpoint: new URL(server.url), region: "us-east-1", name, ...key, pathStyle: true }, close: () => server.close() };
}
