/** Runs nginx on this machine with the shipped docker/proxy.conf; only paths, ports and the name server are replaced. */
import { execFileSync, spawn } from "node:child_process";
import type { RemoteInfo } from "node:dgram";
import { createSocket } from "node:dgram";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePort, portFault, waitUntil } from "#server/embedded/processes.ts";
import { read } from "./sources.ts";

export interface Nginx {
  url: string;
  port: number;
  stop(): Promise<void>;
}

/** Starts nginx with `servers` inside its http block. */
async function startNginx(port: number, folder: string, servers: string): Promise<() => Promise<void>> {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join("\n  ");
  const configuration = `${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections 2048; }
http {
  access_log off;
  ${temporary}
${servers}
}
`;
  const file = path.join(folder, "nginx.conf");
  await writeFile(file, configuration);
  const child = spawn("nginx", ["-p", folder, "-c", file, "-g", "daemon off;"], { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const exited = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
  // Ends the server when the test run is aborted.
  const end = () => child.kill("SIGTERM");
  process.once("exit", end);
  const up = async () => child.exitCode !== null || (await portFault("127.0.0.1", port)) === "EADDRINUSE";
  if (!(await waitUntil(up, 10_000)) || child.exitCode !== null) throw new Error(`nginx did not start: ${output}`);
  return async () => {
    end();
    await exited;
    process.off("exit", end);
  };
}

/** A DNS server that answers every query with the same addresses, as Docker's does for a service. */
async function startNameServer(addresses: readonly string[]): Promise<{ port: number; close(): void }> {
  const socket = createSocket("udp4");
  socket.on("message", (question: Buffer, from: RemoteInfo) => {
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    const nameEnd = question.indexOf(0, 12);
    const answers = addresses.map((address) => {
      const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4]);
      return Buffer.concat([record, Buffer.from(address.split(".").map(Number))]);
    });
    socket.send(Buffer.concat([header, question.subarray(12, nameEnd + 5), ...answers]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return { port: socket.address().port, close: () => socket.close() };
}

/** Replaces the parts of the shipped configuration that can't work outside the containers; leaves everything else as it is. */
function adapt(configuration: string, differences: ReadonlyArray<[shipped: string, here: string]>): string {
  return differences.reduce((text, [shipped, here]) => {
    if (!text.includes(shipped)) throw new Error(`docker/proxy.conf no longer holds: ${shipped}`);
    return text.replace(shipped, here);
  }, configuration);
}

export interface Proxy extends Nginx {
  accessLog(): string;
  /** What nginx said of processes that it could not reach or that did not answer. */
  errorLog(): string;
}

export interface ProxyOptions {
  /** The addresses of the API processes; all listen on `apiPort`. */
  addresses: readonly string[];
  apiPort: number;
  /** Lines to add to docker/trusted-peers.conf. */
  trustedPeers?: string;
}

export async function startProxy({ addresses, apiPort, trustedPeers = "" }: ProxyOptions): Promise<Proxy> {
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-test-nginx-"));
  const [port, names] = [await freePort(), await startNameServer(addresses)];
  await writeFile(path.join(folder, "trusted-peers.conf"), `${read("docker/trusted-peers.conf")}\n${trustedPeers}`);
  const configuration = adapt(read("docker/proxy.conf"), [
    ["/etc/nginx/trusted-peers.conf", path.join(folder, "trusted-peers.conf")],
    ["listen 80;", `listen ${port};`],
    ["resolver 127.0.0.11 ", `resolver 127.0.0.1:${names.port} `],
    ["http://api:3000", `http://api:${apiPort}`],
    ["/var/log/nginx/access.log", path.join(folder, "access.log")],
  ]);
  const stop = await startNginx(port, folder, configuration);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    accessLog: () => readFileSync(path.join(folder, "access.log"), "utf8"),
    errorLog: () => readFileSync(path.join(folder, "error.log"), "utf8"),
    async stop() {
      await stop();
      names.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface Certificate {
  /** PEM. */
  cert: string;
  key: string;
}

/** Creates a self-signed certificate for 127.0.0.1; a client must be told to trust it. */
export function createCertificate(): Certificate {
  const folder = mkdtempSync(path.join(tmpdir(), "tessera-test-certificate-"));
  const files = ["-keyout", path.join(folder, "key.pem"), "-out", path.join(folder, "cert.pem")];
  const kind = [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "1",
    "-subj",
    "/CN=localhost",
    "-addext",
    "subjectAltName=IP:127.0.0.1",
  ];
  execFileSync("openssl", ["req", "-x509", ...kind, ...files], { stdio: "ignore" });
  const [cert = "", key = ""] = ["cert.pem", "key.pem"].map((name) => readFileSync(path.join(folder, name), "utf8"));
  rmSync(folder, { recursive: true });
  return { cert, key };
}

/** Starts a load balancer that terminates TLS with `certificate` and connects to the proxy from `ownAddress`. */
export async function startTerminator(proxyPort: number, ownAddress: string, certificate: Certificate): Promise<Nginx> {
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-test-tls-"));
  const port = await freePort();
  for (const [name, text] of Object.entries(certificate)) await writeFile(path.join(folder, `${name}.pem`), text);
  const stop = await startNginx(
    port,
    folder,
    `map $http_upgrade $upgrade_or_nothing { default upgrade; "" ""; }
server {
  listen ${port} ssl;
  ssl_certificate ${folder}/cert.pem;
  ssl_certificate_key ${folder}/key.pem;
  location / {
    proxy_pass http://127.0.0.1:${proxyPort};
    proxy_bind ${ownAddress};
    proxy_http_version 1.1;
    proxy_buffering off;
    proxy_set_header Host $http_host;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $upgrade_or_nothing;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;
  }
}`,
  );
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    async stop() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
