import styles from "./person.module.css";

export function Payload({ value }: { value: unknown }) {
  return <pre className={styles.payload}>{JSON.stringify(value, undefined, 2)}</pre>;
}
