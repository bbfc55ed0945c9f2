/** Where people's files are, if not in a folder. */
import type { Environment } from "./environment.ts";

/** A bucket of a server that speaks S3's protocol. */
export interface Bucket {
  /** Undefined for Amazon's own. */
  endpoint: URL | undefined;
  region: string;
  name: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** The bucket's name is in the path, and not in the host's name. */
  pathStyle: boolean;
}

const bucketVariables = [
  "STORAGE_S3_ENDPOINT",
  "STORAGE_S3_REGION",
  "STORAGE_S3_ACCESS_KEY_ID",
  "STORAGE_S3_SECRET_ACCESS_KEY",
  "STORAGE_S3_PATH_STYLE",
];

/** Undefined if files are in the folder. */
export function readBucket(environment: Environment): Bucket | undefined {
  const name = environment.text("STORAGE_S3_BUCKET");
  if (name === undefined) {
    const given = bucketVariables.find((variable) => environment.text(variable) !== undefined);
    if (given) environment.faults.push(`${given} is given without STORAGE_S3_BUCKET`);
    return undefined;
  }
  if (!/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/.test(name)) environment.faults.push(`STORAGE_S3_BUCKET=${name} is not the name of a bucket`);
  const endpoint = environment.url("STORAGE_S3_ENDPOINT", ["https:", "http:"]);
  const why = "STORAGE_S3_BUCKET is given, and the server wants to know who asks";
  const accessKeyId = environment.required("STORAGE_S3_ACCESS_KEY_ID", why);
  const secretAccessKey = environment.required("STORAGE_S3_SECRET_ACCESS_KEY", why);
  const region = endpoint
    ? (environment.text("STORAGE_S3_REGION") ?? "us-east-1")
    : environment.required("STORAGE_S3_REGION", "Amazon's address depends on it; for another server give STORAGE_S3_ENDPOINT");
  const style = environment.text("STORAGE_S3_PATH_STYLE") ?? (endpoint ? "on" : "off");
  if (!["on", "off"].includes(style)) environment.faults.push(`STORAGE_S3_PATH_STYLE=${style} is neither on nor off`);
  return { endpoint, region, name, accessKeyId, secretAccessKey, pathStyle: style === "on" };
}
