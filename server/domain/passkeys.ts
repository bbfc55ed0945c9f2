/** How a browser reaches an authenticator (WebAuthn §5.8.4). */
export const transports = ["ble", "hybrid", "internal", "nfc", "smart-card", "usb"] as const;
export type Transport = (typeof transports)[number];
