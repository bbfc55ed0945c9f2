/** Checks docker-compose.yml without a container engine: against the published schema, and by running the services' commands. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { XSchema } from "typebox/schema";
import { Check, Errors } from "typebox/schema";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiPoolSize } from "#server/config.ts";
import { startConnections } from "#server/deps.ts";
import { providers } from "#server/domain/models.ts";
import { freePort, waitUntil } from "#server/embedded/processes.ts";
import type { Service } from "#tests/support/compose.ts";
import { Running, readCompose, readRawCompose, referencedVariables } from "#tests/support/compose.ts";
import { createEmptyDatabase } from "#tests/support/postgres.ts";
import type { TestRedis } from "#tests/support/redis.ts";
import { startRedis } from "#tests/support/redis.ts";
import { listFiles, nodesOf, read, root } from "#tests/support/sources.ts";
import { Visitor } from "#tests/support/visitor.ts";
import { connectionsNeeded } from "../../worker/slots.ts";

const secrets = {
  POSTGRES_PASSWORD: "superuser1",
  OWNER_PASSWORD: "owner1",
  APPLICATION_PASSWORD: "application1",
  REDIS_PASSWORD: "redis1",
  SECRET_KEY: "0123456789abcdef0123456789abcdef",
  ENCRYPTION_KEY: "fedcba9876543210fedcba9876543210",
};
/** Required, so that a forgotten line can't send real mails to a mail catcher or put links to this machine into them. */
const addresses = { PUBLIC_URL: "http://localhost:8080", SMTP_URL: "smtp://mail:1025" };
const given = { ...secrets, ...addresses };
const sandboxOn = { SANDBOX_URL: "http://sandbox.localhost:3001", SANDBOX_TOKEN: "token-of-the-tests" };
const ownServices = ["migrate", "api", "worker", "sandbox"];
const { scripts, dependencies } = JSON.parse(read("package.json")) as Record<"scripts" | "dependencies", Record<string, string>>;
const services = () => Object.entries(readCompose({ ...given, ...sandboxOn }).services);

/** Every environment variable that the product reads. */
function knownVariables(): Set<string> {
  const files = [
    "server/config.ts",
    "server/bucket.ts",
    "server/stripe-config.ts",
    "server/embedded/settings.ts",
    "sandbox/environment.ts",
    "server/db/migrate.ts",
  ];
  const named = files.flatMap((file) => [...read(file).matchAll(/"([A-Z][A-Z\d_]+)"/g)].map(([, name = ""]) => name));
  const ofProviders = providers.flatMap((provider) => ["API_KEY", "BASE_URL"].map((end) => `${provider.toUpperCase()}_${end}`));
  return new Set([...named, ...ofProviders]);
}

describe("docker-compose.yml", () => {
  const schema = JSON.parse(read("tests/support/compose-spec.json")) as XSchema;

  it("matches the published schema, which would find a misspelt key", () => {
    expect(Errors(schema, readRawCompose())[1]).toEqual([]);
    const misspelt = readRawCompose() as { services: { api: Record<string, unknown> } };
    misspelt.services.api.healthchek = {};
    expect(Check(schema, misspelt)).toBe(false);
  });

  it("has all services, each with an image and, except for the migration, a health check", () => {
    expect(
      services()
        .map(([name]) => name)
        .sort(),
    ).toEqual(["api", "mail", "migrate", "postgres", "proxy", "redis", "sandbox", "worker"]);
    for (const [name, service] of services()) {
      expect(service.image, name).toMatch(/^[\w./-]+:[\w.-]+$/);
      if (name === "migrate") expect(service.healthcheck, name).toEqual({ disable: true });
      else expect(service.healthcheck?.test?.[0], name).toBe("CMD");
    }
  });

  it("waits for health where there is a check, and for completion of the migration", () => {
    const all = Object.fromEntries(services());
    for (const [name, service] of services()) {
      for (const [other, { condition, required }] of Object.entries(service.depends_on ?? {})) {
        expect(condition, `${name} → ${other}`).toBe(other === "migrate" ? "service_completed_successfully" : "service_healthy");
        // A service in a profile may be absent, so it must not be required.
        expect(required, `${name} → ${other}`).toBe(all[other]?.profiles ? false : undefined);
      }
    }
  });

  it("runs only commands that are scripts in package.json", () => {
    const known = Object.values(scripts).map((script) => script.replace(/^exec /, ""));
    for (const [name, service] of services().filter(([name]) => ownServices.includes(name)))
      expect(known, name).toContain(service.command?.join(" "));
  });

  it("sets only variables that the product reads, and gives the API all of its own", () => {
    const known = knownVariables();
    for (const [name, service] of services().filter(([name]) => ownServices.includes(name)))
      expect(
        Object.keys(service.environment ?? {}).filter((variable) => !known.has(variable)),
        name,
      ).toEqual([]);
    const { api, worker, sandbox, migrate } = readCompose({ ...given, ...sandboxOn }).services;
    const set = new Set([api, worker, sandbox, migrate].flatMap((service) => Object.keys(service?.environment ?? {})));
    const others = ["STRIPE_API_URL", "TESSERA_FAULT_POINT", "NODE_COMPILE_CACHE", "CLIENT_DIR"];
    expect([...known].filter((variable) => !set.has(variable) && !others.includes(variable))).toEqual([]);
  });

  it("holds no secrets and no default addresses; a missing one is an error that names it", () => {
    for (const name of Object.keys(given)) {
      const others = Object.fromEntries(Object.entries(given).filter(([other]) => other !== name));
      expect(() => readCompose(others)).toThrow(name);
      expect(() => readCompose({ ...others, [name]: "" })).toThrow(name);
    }
    const secretNames = referencedVariables().filter((name) => /PASSWORD|KEY|TOKEN|SECRET/.test(name));
    const withoutValues = readCompose({ ...addresses, ...Object.fromEntries(Object.keys(secrets).map((name) => [name, "given"])) });
    for (const { environment = {} } of Object.values(withoutValues.services))
      for (const name of secretNames) expect(["", "given", undefined], name).toContain(environment[name]);
  });

  it("gives Redis a password, with which the processes and the health check come", () => {
    const { redis, api, worker } = readCompose(given).services;
    expect([redis?.command].flat().slice(-2)).toEqual(["--requirepass", given.REDIS_PASSWORD]);
    expect(redis?.environment).toEqual({ REDISCLI_AUTH: given.REDIS_PASSWORD });
    for (const service of [api, worker]) expect(service?.environment?.REDIS_URL).toBe(`redis://:${given.REDIS_PASSWORD}@redis:6379`);
  });

  it("gives a stopping process more time than draining and closing take", () => {
    const { api } = readCompose(given).services;
    const drainSeconds = Number(api?.environment?.DRAIN_TIMEOUT_SECONDS);
    expect(drainSeconds).toBeGreaterThanOrEqual(120);
    expect(Number(/^(\d+)s$/.exec(api?.stop_grace_period ?? "")?.[1])).toBeGreaterThan(drainSeconds + 8);
  });

  it("allows PostgreSQL as many connections as the README's scale example needs", () => {
    const { postgres } = readCompose(given).services;
    const [, apis, workers] = /--scale api=(\d+) --scale worker=(\d+)/.exec(read("README.md")) ?? [];
    const needed = Number(apis) * (apiPoolSize + startConnections + 2) + Number(workers) * (connectionsNeeded + 2) + 10;
    expect(Number(/max_connections=(\d+)/.exec(postgres?.command?.join(" ") ?? "")?.[1])).toBeGreaterThanOrEqual(needed);
  });

  it("mounts files that exist", () => {
    const files = services().flatMap(([, service]) => (service.volumes ?? []).filter((volume) => volume.startsWith("./")));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(existsSync(path.join(root, file.split(":")[0] ?? "")), file).toBe(true);
  });
});

it("the API gets the same options of Node wherever it is started", () => {
  const optionsOf = (text: string) => [...text.matchAll(/--[\w-]+(=\w+)?/g)].map(([option]) => option);
  const [, image = ""] = /^CMD (.*server\/main\.ts.*)$/m.exec(read("Dockerfile")) ?? [];
  const [, embedded = ""] = /apiNodeOptions = \[(.*)\]/.exec(read("server/embedded/start.ts")) ?? [];
  const composed = JSON.stringify(readCompose(given).services.api?.command);
  const options = optionsOf(scripts["start:api"] ?? "");
  expect(options).not.toEqual([]);
  expect([image, embedded, composed].map(optionsOf)).toEqual([options, options, options]);
});

describe("the images", () => {
  it("copy only files that exist and are not in .dockerignore", () => {
    const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = ""]) => sources.split(" "));
    const allowed = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    for (const source of copied) {
      expect(existsSync(path.join(root, source)), source).toBe(true);
      expect(
        allowed.some((pattern) => source === pattern || source.startsWith(`${pattern}/`)),
        source,
      ).toBe(true);
    }
  });

  it("are by default the product without the sandbox; the sandbox's own image has what it imports", () => {
    const stages = read("Dockerfile")
      .split(/^(?=FROM )/m)
      .slice(1)
      .map((text) => {
        const [, from = "", name = ""] = /^FROM (\S+) AS (\S+)$/m.exec(text) ?? [];
        return { from, name, copied: [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = ""]) => sources.split(" ")) };
      });
    const copiedBy = (name: string): string[] => {
      const stage = stages.find((one) => one.name === name);
      return stage ? [...copiedBy(stage.from), ...stage.copied] : [];
    };
    const services = readRawCompose() as { services: Record<string, { build?: { target: string } }> };
    expect([stages.at(-1)?.name, services.services.sandbox?.build?.target]).toEqual(["product", "sandbox"]);
    expect(copiedBy("product").filter((source) => source.startsWith("sandbox"))).toEqual([]);
    expect(copiedBy("sandbox")).toEqual(expect.arrayContaining(["sandbox", "server/contract", "server/domain"]));
  });

  it("need no development dependencies at run time", () => {
    const files = [...["server", "sandbox", "worker"].flatMap((folder) => listFiles(folder, /\.ts$/)), "scripts/worker-health.ts"];
    const imported = files.flatMap((file) =>
      [...nodesOf(file)]
        .filter((node) => node.type === "ImportDeclaration" && node.importKind !== "type")
        .map((node) => (node.source as { value: string }).value),
    );
    const packages = imported
      .filter((specifier) => !/^(\.|#|node:)/.test(specifier))
      .map((specifier) =>
        specifier
          .split("/")
          .slice(0, specifier.startsWith("@") ? 2 : 1)
          .join("/"),
      );
    expect([...new Set(packages)].filter((name) => dependencies[name] === undefined)).toEqual([]);
  });
});

describe("the services' commands, with their environment, outside a container", () => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let redis: TestRedis;
  let folder: string;
  let started: Record<string, Service>;
  let here: (text: string) => string;
  let urls: { api: string; sandbox: string };
  const running: Running[] = [];

  const environmentOf = (name: string) =>
    Object.fromEntries(Object.entries(started[name]?.environment ?? {}).map(([variable, value]) => [variable, here(value)]));
  const run = (name: string, command: readonly string[] = started[name]?.command ?? []) => {
    const service = new Running(command, environmentOf(name));
    running.push(service);
    return service;
  };
  /** Runs the health check until it succeeds. */
  async function untilHealthy(name: string, service: Running): Promise<void> {
    const [, ...check] = (started[name]?.healthcheck?.test ?? []).map(here);
    const timeoutMs = 40_000;
    // Each check is a process of its own, which takes time from the one that starts.
    const betweenChecksMs = 400;
    const healthy = await waitUntil(async () => !service.alive || (await run(name, check).exited) === 0, timeoutMs, betweenChecksMs);
    if (!healthy || !service.alive) throw new Error(`${name} is not healthy: ${service.output}`);
  }

  beforeAll(async () => {
    [database, redis, folder] = await Promise.all([createEmptyDatabase(), startRedis(), mkdtemp(path.join(tmpdir(), "tessera-compose-"))]);
    const [api, sandbox, smtp] = [await freePort(), await freePort(), await freePort()];
    urls = { api: `http://127.0.0.1:${api}`, sandbox: `http://127.0.0.1:${sandbox}` };
    const [owner, application] = [new URL(database.ownerUrl), new URL(database.applicationUrl)];
    started = readCompose({
      ...given,
      ...sandboxOn,
      OWNER_PASSWORD: owner.password,
      APPLICATION_PASSWORD: application.password,
      PUBLIC_URL: urls.api,
    }).services;
    // Replaces the host names and ports of the containers' network by those on this machine.
    const places: [string, string][] = [
      ["postgres:5432/tessera", `${owner.host}${owner.pathname}`],
      [`:${given.REDIS_PASSWORD}@redis:6379`, `127.0.0.1:${redis.port}`],
      ["mail:1025", `127.0.0.1:${smtp}`],
      ["sandbox.localhost:3001", `127.0.0.1:${sandbox}`],
      ["api:3000", `127.0.0.1:${api}`],
      ["127.0.0.1:3000", `127.0.0.1:${api}`],
      ["127.0.0.1:3001", `127.0.0.1:${sandbox}`],
    ];
    const whole: Record<string, string> = {
      "3000": String(api),
      "3001": String(sandbox),
      "2525": String(smtp),
      "0.0.0.0": "127.0.0.1",
      "/data": folder,
      "/tmp/worker-health": path.join(folder, "worker-health"),
    };
    // In one pass: a port of this machine may begin with one of the containers' (127.0.0.1:30001 with 127.0.0.1:3000).
    const inContainers = new RegExp(`(?:${places.map(([from]) => RegExp.escape(from)).join("|")})(?!\\d)`, "g");
    const onThisMachine = Object.fromEntries(places);
    here = (text) => whole[text] ?? text.replace(inContainers, (from) => onThisMachine[from] ?? from);
  }, 60_000);
  afterAll(async () => {
    await Promise.all(running.map((service) => service.stop()));
    await Promise.all([database?.drop(), redis?.stop(), rm(folder, { recursive: true, force: true })]);
  });

  it("after the migration API, worker and sandbox become healthy, do the main job together and exit cleanly", async () => {
    const early = run("api");
    expect(await early.exited).toBe(1);
    expect(early.output).toContain("npm run migrate");

    const migrate = run("migrate");
    expect(await migrate.exited, migrate.output).toBe(0);
    const sandbox = run("sandbox");
    await untilHealthy("sandbox", sandbox);
    expect(await run("worker", started.worker?.healthcheck?.test?.slice(1)).exited).toBe(1);
    const [api, worker] = [run("api"), run("worker")];
    await Promise.all([untilHealthy("api", api), untilHealthy("worker", worker)]);
    // The health check of another worker, which does not run, must fail although this one runs.
    const [, ...check] = (started.worker?.healthcheck?.test ?? []).map(here);
    const absent = new Running(check, { ...environmentOf("worker"), WORKER_HEALTH_FILE: path.join(folder, "another") });
    expect(await absent.exited).toBe(1);

    const visitor = await new Visitor(urls.api, urls.sandbox).join();
    await visitor.subscribe();
    expect((await visitor.ask()).receipt).toMatchObject({ status: "completed", chargedCredits: 1, availableAfter: 299 });

    expect(await worker.stop()).toBe(0);
    // Through npm as well: if its shell did not pass the signal on, the worker would go on running.
    const script = run("worker", ["npm", "run", "start:worker"]);
    await untilHealthy("worker", script);
    let ended = false;
    script.stop().then(() => {
      ended = true;
    });
    expect(await waitUntil(() => ended, 30_000)).toBe(true);
    expect(await api.stop()).toBe(0);
    expect(await sandbox.stop()).toBe(0);
  }, 120_000);
});
