const longestHeader = 1_000;

/** The language tags of an Accept-Language header (RFC 9110 §12.5.4), best first, without those that `q=0` refuses. */
export function acceptedLanguages(header: string | undefined): string[] {
  return (header ?? "")
    .slice(0, longestHeader)
    .split(",")
    .map((item) => {
      const [tag = "", ...parameters] = item.split(";").map((part) => part.trim());
      const quality = parameters.find((parameter) => parameter.toLowerCase().startsWith("q="));
      return { tag, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    })
    .filter(({ tag, quality }) => tag !== "" && quality > 0)
    .toSorted((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag);
}
