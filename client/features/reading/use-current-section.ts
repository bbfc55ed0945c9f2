import { useEffect, useState } from "react";

/** A section is current once its heading is in the upper quarter of the window. */
const readingLine = 0.25;

/** The id of the current section; undefined above the first one. */
export function useCurrentSection(ids: readonly string[]): string | undefined {
  const [current, setCurrent] = useState<string>();

  useEffect(() => {
    const headings = ids.flatMap((id) => document.getElementById(id) ?? []);
    const look = () => {
      const line = innerHeight * readingLine;
      setCurrent(headings.findLast((heading) => heading.getBoundingClientRect().top <= line)?.id);
    };
    // The observer reports when a heading crosses the line, so nothing is measured on scrolling. Everything above the line counts as
    // visible; otherwise a jump across it would go unnoticed.
    const observer = new IntersectionObserver(look, { rootMargin: `1000000px 0px -${(1 - readingLine) * 100}% 0px`, threshold: [0, 1] });
    for (const heading of headings) observer.observe(heading);
    return () => observer.disconnect();
  }, [ids]);

  return current;
}
