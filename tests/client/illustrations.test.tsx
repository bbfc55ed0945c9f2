/** The guides' and articles' pictures: one for each, made of stones on one grid, with one bright stone. */
import { readFileSync } from "node:fs";
import type { ComponentType } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { articleNames, guideNames } from "#client/content/names.ts";
import { layStones } from "#client/features/reading/illustrations/stones/lay-stones.ts";

const folder = "client/features/reading/illustrations";
const files = import.meta.glob<Record<string, ComponentType>>("../../client/features/reading/illustrations/*.tsx", { eager: true });
const drawn = new Map(Object.entries(files).map(([file, exports]) => [file.replace(/^.*\/|\.tsx$/g, ""), exports]));
const names = [...guideNames, ...articleNames];

function markupOf(name: string): string {
  const [Picture] = Object.values(drawn.get(name) ?? {});
  if (!Picture) throw new Error(`${name} has no picture.`);
  return renderToStaticMarkup(<Picture />);
}

interface Stone {
  left: number;
  top: number;
  side: number;
}

/** Reads the stones from a path's markup: "M20 8.5h37" with dashes of 17 is two stones. */
function stonesOf(path: string): Stone[] {
  const side = Number(/stroke-width="(\d+)"/.exec(path)?.[1]);
  return [...path.matchAll(/M(\d+) ([\d.]+)h(\d+)/g)].flatMap(([, left, middle, length]) =>
    Array.from({ length: (Number(length) + 3) / (side + 3) }, (_, index) => ({
      left: Number(left) + index * (side + 3),
      top: Number(middle) - side / 2,
      side,
    })),
  );
}

function pathsOf(markup: string): string[] {
  return markup.match(/<path[^>]*>/g) ?? [];
}

describe("the pictures", () => {
  it("exist for every guide and article, a different one for each, and no others", () => {
    expect([...drawn.keys()].sort()).toEqual([...names].sort());
    expect(new Set(names.map(markupOf)).size).toBe(names.length);
  });

  it.each(names)("%s is hidden from screen readers, uses only the page's colours, and is small", (name) => {
    const markup = markupOf(name);
    expect(markup).toMatch(/^<svg [^>]*viewBox="0 0 960 400" aria-hidden="true" focusable="false">/);
    expect(markup).not.toMatch(/style=|fill=|stroke="|#[0-9a-f]{3}|url\(|\sid=/i);
    expect(pathsOf(markup).length).toBeLessThanOrEqual(24);
    expect(markup.length).toBeLessThan(6000);
    expect(readFileSync(`${folder}/${name}.tsx`, "utf8").length).toBeLessThan(6000);
  });

  it.each(names)("%s has one bright stone, and no stones overlap or lie outside", (name) => {
    const paths = pathsOf(markupOf(name));
    const bright = paths.filter((path) => /class="[^"]*bright/.test(path)).flatMap(stonesOf);
    expect(bright).toHaveLength(1);
    const taken = new Set<string>();
    for (const { left, top, side } of paths.filter((path) => path.includes("stroke-width")).flatMap(stonesOf)) {
      expect([left, top, side + 3].filter((length) => length % 20 !== 0)).toEqual([]);
      expect(Math.max(left + side - 960, top + side - 400)).toBeLessThanOrEqual(0);
      for (let x = left; x < left + side; x += 20) {
        for (let y = top; y < top + side; y += 20) {
          expect(taken.has(`${x} ${y}`), `${x} ${y}`).toBe(false);
          taken.add(`${x} ${y}`);
        }
      }
    }
  });
});

describe("laying stones", () => {
  it("draws a run of stones as one stroke, and worn stones as strokes of their own", () => {
    const paths = layStones({ picture: "\n.xx.x\n", column: 1, row: 2 });
    expect(paths).toEqual([{ tone: "bright", worn: false, side: 17, d: "M40 48.5h37M100 48.5h17" }]);
  });

  it("draws larger stones on the same grid, and a missing stone as an outline", () => {
    expect(layStones({ picture: "x", side: 4 })).toEqual([{ tone: "bright", worn: false, side: 77, d: "M0 38.5h77" }]);
    expect(layStones({ picture: ".o", side: 2 })).toEqual([{ tone: "socket", worn: false, side: 37, d: "M40.5 0.5h36v36h-36z" }]);
  });

  it("refuses an unknown letter", () => {
    expect(() => layStones({ picture: "..z" })).toThrow('No stone is called "z"');
  });
});
