import { Camera, FolderOpen } from "lucide-react";
import type { ChangeEvent, ReactNode } from "react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Menu } from "#client/components/menu.tsx";

/** What a picture may be that a model begins from. */
export const pictureTypes = "image/png,image/jpeg,image/webp,image/gif";

interface FileChoiceProps {
  name: string;
  accept: string;
  /** Several may be chosen at once. */
  multiple?: boolean;
  onFiles: (files: readonly File[]) => void;
  /** The button that opens the choice. */
  children: (open: (button: HTMLElement) => void) => ReactNode;
}

/** Opens the browser's file dialog. On a phone or a tablet it first offers to take a photo, because their dialogs often leave that out. */
export function FileChoice({ name, accept, multiple = true, onFiles, children }: FileChoiceProps) {
  const { t } = useTranslation("files");
  const files = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const [button, setButton] = useState<HTMLElement | null>(null);
  const open = (pressed: HTMLElement) => {
    if (matchMedia("(pointer: coarse)").matches) setButton(pressed);
    else files.current?.click();
  };
  const field = {
    type: "file",
    hidden: true,
    onChange({ currentTarget }: ChangeEvent<HTMLInputElement>) {
      const chosen = [...(currentTarget.files ?? [])];
      // The same file can be chosen again after it was removed.
      currentTarget.value = "";
      if (chosen.length > 0) onFiles(chosen);
    },
  };
  const items = [
    { icon: <Camera size={18} aria-hidden="true" />, label: t("photo"), act: () => camera.current?.click() },
    { icon: <FolderOpen size={18} aria-hidden="true" />, label: t("choose"), act: () => files.current?.click() },
  ];
  return (
    <>
      <input ref={files} {...field} {...{ name, accept, multiple }} />
      <input ref={camera} {...field} name={`${name}-photo`} accept="image/*" capture="environment" />
      {children(open)}
      {button && <Menu {...{ items, button }} onClose={() => setButton(null)} />}
    </>
  );
}
