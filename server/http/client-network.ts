import { isIPv6 } from "node:net";

/** The eight groups of an IPv6 address, however it is written, without leading zeros. */
function groupsOf(address: string): string[] {
  const parts = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [leading = [], trailing = []] = parts.map((part) => part.split(":").filter((group) => group !== ""));
  return [...leading, ...Array.from({ length: 8 - leading.length - trailing.length }, () => "0"), ...trailing];
}

/** A site has as much room as so many of its networks. */
export const siteShare = 4;

/**
 * The /48 of a network that is an IPv6 /64: a customer who was given all of it has 65,536 networks, and so as many callers. It is
 * counted besides, with a higher ceiling, for it may also be many customers. Undefined for IPv4.
 */
export function clientSite(network: string): string | undefined {
  return network.endsWith("::/64") ? `${network.split(":", 3).join(":")}::/48` : undefined;
}

/** What counts as one caller: an IPv4 address as it is, of IPv6 the /64, which a subscriber owns at least. */
export function clientNetwork(ip: string): string {
  const bare = ip.split("%")[0] ?? ip;
  if (!isIPv6(bare)) return bare;
  const groups = groupsOf(bare);
  if (!groups.join(":").startsWith("0:0:0:0:0:ffff:")) return `${groups.slice(0, 4).join(":")}::/64`;
  // IPv4 in the clothes of IPv6.
  const bytes = groups.slice(6).flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]);
  return bytes.join(".");
}
