import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Link } from "wouter";
import styles from "./button.module.css";
import { classNames } from "./class-names.ts";
import { Spinner } from "./spinner.tsx";

export type ButtonVariant = "primary" | "secondary" | "quiet" | "danger";

interface Look {
  variant?: ButtonVariant;
  size?: "medium" | "small";
  /** Fills the width it is given. */
  wide?: boolean;
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement>, Look {
  /** Shows the button as busy and ignores clicks. It stays focusable, so that keyboard users keep their place. */
  busy?: boolean;
  busyLabel?: string;
}

function lookOf({ variant = "secondary", size = "medium", wide = false }: Look): string {
  return classNames(styles.button, styles[variant], size === "small" && styles.small, wide && styles.wide);
}

export function Button({
  variant,
  size,
  wide,
  busy = false,
  busyLabel,
  className,
  children,
  onClick,
  type = "button",
  ...rest
}: ButtonProps) {
  const look = lookOf({ ...(variant && { variant }), ...(size && { size }), ...(wide && { wide }) });
  return (
    <button
      {...rest}
      type={busy ? "button" : type}
      className={classNames(look, className)}
      aria-disabled={busy || rest["aria-disabled"]}
      data-busy={busy || undefined}
      onClick={busy ? undefined : onClick}
    >
      {busy && <Spinner size="small" />}
      {busy && busyLabel ? busyLabel : children}
    </button>
  );
}

interface LinkButtonProps extends Look {
  href: string;
  className?: string;
  children: ReactNode;
  onClick?: () => void;
}

/** A link inside the product that looks like a button. It navigates, so it is an anchor. */
export function LinkButton({ href, className, children, onClick, ...look }: LinkButtonProps) {
  return (
    <Link href={href} className={classNames(lookOf(look), className)} onClick={onClick}>
      {children}
    </Link>
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** What the button does: read out by screen readers and shown on hover. */
  label: string;
  children: ReactNode;
}

export function IconButton({ label, className, children, type = "button", ...rest }: IconButtonProps) {
  return (
    <button {...rest} type={type} className={classNames(styles.icon, className)} aria-label={label} title={label}>
      {children}
    </button>
  );
}
