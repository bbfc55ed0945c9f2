import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readConfig } from "#server/config.ts";
import { readSettings } from "#server/embedded/settings.ts";
import { ConfigError } from "#server/environment.ts";

const whole = {
  NODE_ENV: "production",
  DATABASE_URL: "postgres://app:x@127.0.0.1/tessera",
  SECRET_KEY: "0123456789abcdef0123456789abcdef",
  ENCRYPTION_KEY: "fedcba9876543210fedcba9876543210",
  STRIPE_SECRET_KEY: "sk_live_1",
  STRIPE_WEBHOOK_SECRET: "whsec_1",
  SMTP_URL: "smtp://mail.example",
  CONTACT_EMAIL: "team@mail.example",
  POSTAL_ADDRESS: "Tessera Ltd, 2 High Street, Dublin, Ireland",
  PUBLIC_URL: "https://tessera.test",
  MAIL_FROM: "Tessera <no-reply@tessera.test>",
};

function faults(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe("sign-in with Google", () => {
  const credentials = { GOOGLE_CLIENT_ID: "id", GOOGLE_CLIENT_SECRET: "secret" };

  it("is off without credentials, and uses Google with them", () => {
    expect(readConfig(whole).google).toBeUndefined();
    expect(readConfig({ ...whole, ...credentials }).google).toEqual({ clientId: "id", clientSecret: "secret", issuer: undefined });
  });

  it.each(["GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET"])("with half of it configured, %s is reported in one line", (name) => {
    expect(faults(() => readConfig({ ...whole, ...credentials, [name]: "" }))).toEqual([
      expect.stringMatching(new RegExp(`^${name} is blank: `)),
    ]);
  });

  it("is played by the sandbox where there are no credentials, never in production", () => {
    const sandbox = { SANDBOX_URL: "http://127.0.0.1:3001", SANDBOX_TOKEN: "token", SANDBOX_GOOGLE_URL: "http://127.0.0.1:3002" };
    const played = readConfig({ ...whole, ...sandbox, NODE_ENV: "test", STRIPE_SECRET_KEY: "" }).google;
    expect(played).toMatchObject({ issuer: new URL("http://127.0.0.1:3002") });
    expect(readConfig({ ...whole, ...sandbox }).google).toBeUndefined();
  });
});

describe("in production", () => {
  it("a complete environment is accepted, without a sandbox", () => {
    expect(readConfig(whole)).toMatchObject({
      production: true,
      sandbox: undefined,
      stripe: { livemode: true, webhookSecrets: ["whsec_1"] },
    });
  });

  const needed = Object.keys(whole).filter((name) => name !== "NODE_ENV");
  it.each(needed)("a missing or blank %s is reported in one line that names it", (name) => {
    for (const [value, word] of [
      [undefined, "missing"],
      ["", "blank"],
      ["  ", "blank"],
    ] as const) {
      const lines = faults(() => readConfig({ ...whole, [name]: value }));
      expect(lines).toEqual([expect.stringMatching(new RegExp(`^${name} is ${word}: `))]);
    }
  });

  it("each error has its own line, and none shows a secret", () => {
    const lines = faults(() =>
      readConfig({
        ...whole,
        SECRET_KEY: "too-short",
        DATABASE_URL: "mysql://app:hidden@host/x",
        PORT: "99999",
        STRIPE_WEBHOOK_SECRET: "",
      }),
    );
    expect(lines).toHaveLength(4);
    expect(lines.join("\n")).not.toMatch(/too-short|hidden/);
  });

  it("the sandbox is never used, whatever variables are set", () => {
    const config = readConfig({ ...whole, SANDBOX_URL: "http://127.0.0.1:3001", SANDBOX_TOKEN: "t" });
    expect(config.sandbox).toBeUndefined();
    expect(config.models).toEqual({});
    expect(readSettings({ ...whole, STRIPE_SECRET_KEY: "sk_live_1" }, false).sandbox).toBeUndefined();
  });
});

describe("people's files", () => {
  const bucket = { STORAGE_S3_BUCKET: "people-files", STORAGE_S3_ACCESS_KEY_ID: "id", STORAGE_S3_SECRET_ACCESS_KEY: "secret" };

  it("are in a folder, in a bucket of a server, or of Amazon's, which needs a region", () => {
    expect(readConfig(whole).storageBucket).toBeUndefined();
    const own = { name: "people-files", accessKeyId: "id", secretAccessKey: "secret" };
    const endpoint = "https://s3.example:9000";
    const server = { ...own, endpoint: new URL(endpoint), region: "us-east-1", pathStyle: true };
    expect(readConfig({ ...whole, ...bucket, STORAGE_S3_ENDPOINT: endpoint }).storageBucket).toEqual(server);
    const amazon = { ...own, endpoint: undefined, region: "eu-central-1", pathStyle: false };
    expect(readConfig({ ...whole, ...bucket, STORAGE_S3_REGION: "eu-central-1" }).storageBucket).toEqual(amazon);
    expect(faults(() => readConfig({ ...whole, ...bucket }))).toEqual([expect.stringMatching(/^STORAGE_S3_REGION is missing: /)]);
  });

  it.each<[string, Record<string, string>]>([
    ["STORAGE_S3_ENDPOINT", { STORAGE_S3_BUCKET: "", STORAGE_S3_ENDPOINT: "https://s3.example" }],
    ["STORAGE_S3_BUCKET", { STORAGE_S3_BUCKET: "a/b", STORAGE_S3_REGION: "x" }],
    ["STORAGE_S3_SECRET_ACCESS_KEY", { STORAGE_S3_SECRET_ACCESS_KEY: "", STORAGE_S3_REGION: "x" }],
    ["STORAGE_S3_PATH_STYLE", { STORAGE_S3_PATH_STYLE: "yes", STORAGE_S3_REGION: "x" }],
    ["STORAGE_S3_ENDPOINT", { STORAGE_S3_ENDPOINT: "s3.example", STORAGE_S3_REGION: "x" }],
  ])("with %s misconfigured, one line names it", (name, more) => {
    const own = more.STORAGE_S3_BUCKET === "" ? {} : bucket;
    expect(faults(() => readConfig({ ...whole, ...own, ...more }))).toEqual([expect.stringMatching(new RegExp(`^${name}\\b`))]);
  });
});

describe("passkeys are made for the one name and origin of the public address", () => {
  it.each([
    ["https://tessera.example", { rpId: "tessera.example", origin: "https://tessera.example" }],
    ["https://tessera.example:8443", { rpId: "tessera.example", origin: "https://tessera.example:8443" }],
    ["https://TESSERA.example:443/", { rpId: "tessera.example", origin: "https://tessera.example" }],
    ["http://localhost:8080", { rpId: "localhost", origin: "http://localhost:8080" }],
    ["http://127.0.0.1:3000", { rpId: "localhost", origin: "http://localhost:3000" }],
    ["http://[::1]:3000", { rpId: "localhost", origin: "http://localhost:3000" }],
    ["http://tessera.example", undefined],
    ["https://192.0.2.7", undefined],
    ["https://[2001:db8::1]", undefined],
  ])("%s", (PUBLIC_URL, passkeys) => {
    expect(readConfig({ ...whole, PUBLIC_URL }).passkeys).toEqual(passkeys);
  });
});

describe("a malformed variable is reported in one line that names it", () => {
  it.each([
    ["PORT", "eighty"],
    ["PORT", "0"],
    ["PORT", "3000.5"],
    ["SANDBOX_PORT", "65536"],
    ["PUBLIC_URL", "tessera.example"],
    ["PUBLIC_URL", "ftp://tessera.example"],
    ["PUBLIC_URL", "https://tessera.example,https://tessera.test"],
    ["PUBLIC_URL", "https://tessera.example https://tessera.test"],
    ["PUBLIC_URL", "https://tessera.example/app"],
    ["PUBLIC_URL", "https://ada@tessera.example"],
    ["DATABASE_URL", "tessera"],
    ["DATABASE_URL", "http://127.0.0.1/tessera"],
    ["REDIS_URL", "127.0.0.1:6379"],
    ["SMTP_URL", "mail.example"],
    ["OPENAI_BASE_URL", "localhost"],
    ["TRUSTED_PROXIES", "10.0.0.0/8, proxy.example"],
    ["TRUSTED_PROXIES", "10.0.0.0/33"],
    ["TRUSTED_PROXIES", "10.1/16"],
    ["TRUSTED_PROXIES", "10.0.0.0/0"],
    ["ADMIN_EMAILS", "admin"],
    ["CONTACT_EMAIL", "team"],
    ["LOG_LEVEL", "loud"],
    ["NODE_ENV", "prod"],
    ["NODE_ENV", "Production"],
    ["MAIL_FROM", "Tessera"],
    ["MAIL_FROM", "Tessera <no-reply>"],
    ["SECRET_KEY", ""],
    ["SECRET_KEY_PREVIOUS", "too-short"],
    ["ENCRYPTION_KEY", "too-short"],
    ["DATABASE_POOL_SIZE", "-1"],
  ])("%s=%s", (name, value) => {
    const lines = faults(() => readSettings({ [name]: value }, false));
    expect(lines).toEqual([expect.stringContaining(name)]);
    expect(lines.join()).not.toContain("\n");
  });

  it.each([undefined, "", "development"])("a live key of Stripe with NODE_ENV=%s", (NODE_ENV) => {
    const { NODE_ENV: _, ...outside } = whole;
    for (const STRIPE_SECRET_KEY of ["sk_live_1", "rk_live_1"]) {
      expect(faults(() => readConfig({ ...outside, NODE_ENV, STRIPE_SECRET_KEY }))).toEqual([
        "STRIPE_SECRET_KEY is a live key; with it NODE_ENV has to be production",
      ]);
    }
    expect(faults(() => readConfig({ ...outside, NODE_ENV, STRIPE_SECRET_KEY: "sk_test_1" }))).toEqual([]);
  });

  it("STRIPE_TAX other than included, which is off unless it is given", () => {
    const taxOf = (STRIPE_TAX?: string) => readConfig({ ...whole, STRIPE_TAX }).stripe.tax;
    expect([taxOf(), taxOf(""), taxOf("included")]).toEqual(["off", "off", "included"]);
    expect(faults(() => taxOf("on"))).toEqual([expect.stringMatching(/^STRIPE_TAX=on is not "included"/)]);
  });

  it("random values give error lines and no other exception", () => {
    const names = [
      "HOST",
      "PORT",
      "SANDBOX_PORT",
      "PUBLIC_URL",
      "DATABASE_URL",
      "REDIS_URL",
      "SMTP_URL",
      "TRUSTED_PROXIES",
      "ADMIN_EMAILS",
      "CONTACT_EMAIL",
      "POSTAL_ADDRESS",
      "SECRET_KEY",
      "NODE_ENV",
    ];
    const values = fc.oneof(fc.string(), fc.constantFrom("", "production", "postgres://a@b/c", "redis://x", "http://[::1]:3", "//", "1e3"));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), values), (variables) => {
        for (const line of faults(() => readSettings(variables, false))) expect(line.length).toBeGreaterThan(10);
      }),
    );
  });
});

describe("outside production", () => {
  it("no variable is required, and the sandbox replaces missing services", () => {
    expect(readSettings({}, false)).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      sandboxPort: 3001,
      dataDir: ".data",
      databaseUrl: undefined,
      sandbox: { stripe: true, mail: true },
    });
  });

  it("a service with credentials is not replaced by the sandbox", () => {
    const settings = readSettings({ STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1" }, false);
    expect(settings.sandbox).toEqual({ stripe: false, mail: true });
  });

  it("DATABASE_URL is accepted without the owner's URL, but not the other way round", () => {
    expect(faults(() => readSettings({ DATABASE_URL: "postgres://app@h/d" }, false))).toEqual([]);
    expect(faults(() => readSettings({ MIGRATE_DATABASE_URL: "postgres://owner@h/d" }, false))).toEqual([
      expect.stringContaining("MIGRATE_DATABASE_URL"),
    ]);
  });
});
