import type { PointerEvent, ReactNode } from "react";
import { useId } from "react";
import { useTranslation } from "react-i18next";
import type { Crop } from "#domain/avatars.ts";
import styles from "./person.module.css";

const maxZoom = 4;

export interface Size {
  width: number;
  height: number;
}

/** Whole pixels within the picture: the server refuses a crop that reaches beyond it. */
function within({ width, height }: Size, { left, top, side }: Crop): Crop {
  const whole = Math.max(1, Math.floor(side));
  const clamp = (value: number, room: number) => Math.round(Math.min(Math.max(value, 0), room));
  return { left: clamp(left, width - whole), top: clamp(top, height - whole), side: whole };
}

interface SliderProps {
  label: string;
  min: number;
  max: number;
  step: number | "any";
  value: number;
  onChange: (value: number) => void;
}

function Slider({ label, onChange, ...range }: SliderProps): ReactNode {
  const id = useId();
  return (
    <div className={styles.slider}>
      <label htmlFor={id}>{label}</label>
      <input {...range} id={id} type="range" disabled={range.max <= range.min} onChange={(event) => onChange(Number(event.target.value))} />
    </div>
  );
}

interface PictureCropProps {
  address: string;
  size: Size;
  crop: Crop;
  onChange: (crop: Crop) => void;
}

/** The square that is kept of a picture: moved by pointer, or by three sliders, which also work by keyboard. */
export function PictureCrop({ address, size, crop, onChange }: PictureCropProps) {
  const { t } = useTranslation("account");
  const largest = Math.min(size.width, size.height);
  const change = (parts: Partial<Crop>) => onChange(within(size, { ...crop, ...parts }));

  function zoom(factor: number): void {
    const side = largest / factor;
    const moved = (crop.side - side) / 2;
    change({ side, left: crop.left + moved, top: crop.top + moved });
  }

  function drag(event: PointerEvent<HTMLImageElement>): void {
    if (event.buttons === 0) return;
    const perPixel = crop.side / (event.currentTarget.parentElement?.clientWidth ?? 1);
    change({ left: crop.left - event.movementX * perPixel, top: crop.top - event.movementY * perPixel });
  }

  const percent = (pixels: number) => `${(pixels / crop.side) * 100}%`;
  return (
    <>
      <div className={styles.stage}>
        <img
          src={address}
          alt={t("picture.preview")}
          draggable={false}
          style={{ inlineSize: percent(size.width), insetInlineStart: percent(-crop.left), insetBlockStart: percent(-crop.top) }}
          onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
          onPointerMove={drag}
        />
      </div>
      <Slider label={t("picture.zoom")} min={1} max={maxZoom} step={0.1} value={largest / crop.side} onChange={zoom} />
      <Slider
        label={t("picture.across")}
        min={0}
        max={size.width - crop.side}
        step={1}
        value={crop.left}
        onChange={(left) => change({ left })}
      />
      <Slider
        label={t("picture.down")}
        min={0}
        max={size.height - crop.side}
        step={1}
        value={crop.top}
        onChange={(top) => change({ top })}
      />
    </>
  );
}
