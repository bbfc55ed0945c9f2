/** Cities that browsers still report by the name their time zone had first. */
const renamed: Readonly<Record<string, string>> = {
  Calcutta: "Kolkata",
  Katmandu: "Kathmandu",
  Kiev: "Kyiv",
  Rangoon: "Yangon",
  Saigon: "Ho Chi Minh",
};

/** The city that an IANA time zone is named after; undefined for zones that are named after none, such as UTC. */
export function cityOf(timeZone: string): string | undefined {
  const [area, ...rest] = timeZone.split("/");
  const city = rest.at(-1)?.replaceAll("_", " ");
  return city === undefined || area === "Etc" ? undefined : (renamed[city] ?? city);
}
