const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  "#39": "'",
  "#x27": "'",
  "#38": "&",
};

function decodeEntities(text: string): string {
  return text.replace(/&(#?\w{1,6});/g, (whole, name: string) => entities[name.toLowerCase()] ?? whole);
}

function isWebAddress(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}

/** The absolute web addresses in a mail, each once: first the links of its HTML, then those that only the text has. */
export function findLinks(text: string, html: string): string[] {
  const hrefs = [...html.matchAll(/\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)].map((match) =>
    decodeEntities(match[1] ?? match[2] ?? "").trim(),
  );
  const written = [...text.matchAll(/https?:\/\/[^\s<>"'`\]]+/gi)].map((match) => match[0].replace(/[.,;:!?)]+$/, ""));
  return [...new Set([...hrefs, ...written].filter(isWebAddress))];
}
