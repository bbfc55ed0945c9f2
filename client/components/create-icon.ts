import type { ReactElement, SVGProps } from "react";
import { createElement } from "react";

interface IconData {
  node: readonly (readonly [tag: string, attributes: Record<string, string>])[];
}

type IconProps = Omit<SVGProps<SVGSVGElement>, "size"> & { size?: number };

/**
 * What lucide's icons are drawn with once they are built (vite.config.ts): its own drawer weighs more than all our icons,
 * for contexts and names that none of them uses. Whoever hides an icon from screen readers says so.
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
  return ({ size = 24, ...props }) => createElement("svg", { width: size, height: size, ...line, ...props }, drawn);
}
