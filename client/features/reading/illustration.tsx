import type { ComponentType } from "react";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import type { PieceName } from "#client/content/names.ts";
import styles from "./illustration.module.css";
import type { PreparedPart } from "./prepared-part.tsx";
import { PartView, preparedPart } from "./prepared-part.tsx";

/** `illustrations/marketing.tsx` exports one component: the drawing of the piece of that name. */
const files = import.meta.glob<Record<string, ComponentType>>("./illustrations/*.tsx");

const parts = new Map<string, PreparedPart>(
  Object.entries(files).map(([file, load]) => [
    file.replace(/^.*\/|\.tsx$/g, ""),
    preparedPart(async () => {
      const [drawing] = Object.values(await load());
      if (!drawing) throw new Error(`${file} exports no drawing.`);
      return drawing;
    }),
  ]),
);

export async function prepareIllustration(name: PieceName): Promise<void> {
  await parts.get(name)?.prepare();
}

const stones = [
  { place: "1", kind: "text" },
  { place: "2", kind: "image" },
  { place: "3", kind: "audio" },
  { place: "4", kind: "search" },
  { place: "5", kind: "video" },
  { place: "6", kind: "text" },
] as const;

/** Six tiles generated from the piece's name, for pieces without an illustration. */
function Mosaic({ name }: { name: PieceName }) {
  return (
    <div className={styles.mosaic} aria-hidden="true">
      {stones.map(({ place, kind }) => (
        <ModelPattern key={place} modelId={`${name} ${place}`} category={kind} className={styles.tile} />
      ))}
    </div>
  );
}

/** The illustration of a piece. It is decorative, because the text says what it means. */
export function Illustration({ name }: { name: PieceName }) {
  const drawn = parts.get(name);
  return <div className={styles.frame}>{drawn ? <PartView part={drawn} roomClass={styles.room} /> : <Mosaic name={name} />}</div>;
}
