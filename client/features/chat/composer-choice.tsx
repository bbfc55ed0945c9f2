import { Segmented } from "#client/components/segmented.tsx";
import styles from "./picture-composer.module.css";

interface ChoiceProps<Value extends string> {
  /** What is being chosen, for screen readers. */
  label: string;
  value: Value;
  onChange: (value: Value) => void;
}

interface ComposerChoiceProps<Value extends string> extends ChoiceProps<Value> {
  options: readonly { value: Value; label: string }[];
}

/** A choice above the composer's buttons: tighter than elsewhere. */
export function ComposerChoice<Value extends string>(props: ComposerChoiceProps<Value>) {
  return <Segmented className={styles.tight ?? ""} {...props} />;
}

interface Shape<Value extends string> {
  value: Value;
  name: string;
  width: number;
  height: number;
}

/** A choice between shapes, which are drawn. Their names are for screen readers. */
export function ShapeChoice<Value extends string>({ shapes, ...props }: ChoiceProps<Value> & { shapes: readonly Shape<Value>[] }) {
  const options = shapes.map(({ value, name, width, height }) => {
    const scale = 16 / Math.max(width, height);
    const [drawnWidth, drawnHeight] = [width * scale, height * scale];
    const label = (
      <>
        <svg className={styles.shape} viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
          <rect x={9 - drawnWidth / 2} y={9 - drawnHeight / 2} width={drawnWidth} height={drawnHeight} rx="1" />
        </svg>
        <span className={styles.hidden}>{name}</span>
      </>
    );
    return { value, label };
  });
  return <Segmented className={styles.tight ?? ""} options={options} {...props} />;
}
