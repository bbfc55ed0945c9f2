import { isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

/** A site, an IPv6 /48, may use four times as much as one of its networks. */
export const siteShare = 4;

/**
 * The /48 that an IPv6 /64 network belongs to; undefined for IPv4. A customer who owns a whole /48 has 65,536 networks, so requests
 * count towards the site's limit too. That limit is higher, because a /48 may also belong to many customers.
 */
export function clientSite(network: string): string | undefined {
  return network.endsWith("::/64") ? `${network.split(":", 3).join(":")}::/48` : undefined;
}

/** What counts as one caller: an IPv4 address, also one written as IPv6 (::ffff:192.0.2.1), or an IPv6 /64, which every subscriber owns at least. */
export function clientNetwork(ip: string): string {
  if (isIPv4(ip) || !ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address instanceof ipaddr.IPv4) return address.toString();
  const groups = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${groups.join(":")}::/64`;
}

/** A network as a person sees it in the list of what happened: an IPv4 address without its last number, an IPv6 network as its /48. */
export function shortNetwork(network: string): string {
  return clientSite(network) ?? network.replace(/\.\d+$/, ".0/24");
}
