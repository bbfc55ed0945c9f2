import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import styles from "./copied.module.css";

/** How many letters are shown of the id's beginning and end: enough to tell it from the others of a list. */
const [first, last] = [12, 5];

/** An id in a table, in one line. What its row opens has the whole id, with a button that copies it. */
export function ShortId({ id }: { id: string }) {
  if (id.length <= first + last) return id;
  return (
    <span className={styles.end} title={id}>
      <span aria-hidden="true">{`${id.slice(0, first)}…${id.slice(-last)}`}</span>
      <VisuallyHidden>{id}</VisuallyHidden>
    </span>
  );
}
