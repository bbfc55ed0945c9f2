/** Limits the open connections in total and for each network, so that one caller with many idle sockets can't block the others. */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { BlockList, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { clientNetwork } from "./client-network.ts";
import { NetworkCounts } from "./counts.ts";

/** A connection that has not sent all of its headers after this time is closed. */
export const headersTimeoutMs = 10_000;
const inAll = 10_000;

function blockListOf(blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [address, bits] = ipaddr.parseCIDR(block.includes("/") ? block : `${block}/${isIPv6(block) ? 128 : 32}`);
    list.addSubnet(address.toString(), bits, address.kind());
  }
  return list;
}

/** Trusted proxies are exempt, because their connections carry many callers. A proxy has to limit its callers itself (docker/proxy.conf). */
export function limitConnections(server: Server, perAddress: number, trustedProxies: readonly string[]): void {
  const proxies = blockListOf(trustedProxies);
  const open = new NetworkCounts();
  server.maxConnections = inAll;
  server.on("connection", (socket: Socket) => {
    const ip = socket.remoteAddress;
    if (ip === undefined || proxies.check(ip, isIPv6(ip) ? "ipv6" : "ipv4")) return;
    const network = clientNetwork(ip);
    if (open.hasRoom(network, perAddress)) socket.once("close", open.add(network));
    else socket.destroy();
  });
}
