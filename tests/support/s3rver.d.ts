/** A server from npm that speaks S3's protocol, as far as our tests use it. */
declare module "@20minutes/s3rver" {
  export default class S3rver {
    constructor(options: { address: string; port: number; silent: boolean; directory: string; configureBuckets: { name: string }[] });
    run(): Promise<unknown>;
    close(): Promise<void>;
  }
}
