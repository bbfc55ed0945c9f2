import type { ReactElement, SVGProps } from "react";
import { createElement } from "react";

interface IconData {
  node: readonly (readonly [tag: string, attributes: Record<string, string>])[];
}

type IconProps = Omit<SVGProps<SVGSVGElement>, "size"> & { size?: number };

/**
 * Replaces lucide's own icon component in the build (vite.config.ts). Lucide's is larger than all our icons together, because
 * of contexts and names that we don't use. The caller must hide an icon from screen readers.
 */
export default function createIcon({ node }: IconData): (props: IconProps) => ReactElement {
  const drawn = node.map(([tag, attributes]) => createElement(tag, attributes));
  const line = {
    viewBox: "0 0 24 24",
    fill: "none",
    stroke: "currentColor",
    strokeWidth: 2,
    strokeLinecap: "round",
    strokeLinejoin: "round",
  };
  return ({ size = 24, ...props }) => createElement("svg", { width: size, height: size, ...line, ...props }, ...drawn);
}
