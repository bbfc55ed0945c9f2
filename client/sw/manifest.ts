import type { ManifestOptions } from "vite-plugin-pwa";
import { paths } from "#client/paths.ts";
import { sharePath } from "./messages.ts";

const shortcut = (name: string, url: string, icon: string) => ({
  name,
  url,
  icons: [{ src: `/icons/shortcut-${icon}.png`, sizes: "96x96", type: "image/png" }],
});

const screenshot = (name: string, width: number, height: number, label: string) => ({
  src: `/screenshots/${name}.png`,
  sizes: `${width}x${height}`,
  type: "image/png",
  form_factor: width > height ? ("wide" as const) : ("narrow" as const),
  label,
});

/** The web app manifest, for the home screen, the browser's install dialog and the task switcher. */
export const manifest = {
  id: "/",
  name: "Tessera",
  short_name: "Tessera",
  description: "One monthly plan and one pool of credits for many AI models.",
  lang: "en",
  dir: "ltr",
  start_url: "/",
  scope: "/",
  display: "standalone",
  // Browsers without standalone mode may show their minimal bar.
  display_override: ["standalone", "minimal-ui"],
  launch_handler: { client_mode: ["navigate-existing", "auto"] },
  background_color: "#f9f6f0",
  theme_color: "#f9f6f0",
  categories: ["productivity", "utilities"],
  // Lets the site ask whether it is already installed (getInstalledRelatedApps). No other app is preferred.
  prefer_related_applications: false,
  related_applications: [{ platform: "webapp", url: "/manifest.webmanifest" }],
  icons: [
    { src: "/icons/icon-192.png", sizes: "192x192", type: "image/png", purpose: "any" },
    { src: "/icons/icon-512.png", sizes: "512x512", type: "image/png", purpose: "any" },
    { src: "/icons/maskable-192.png", sizes: "192x192", type: "image/png", purpose: "maskable" },
    { src: "/icons/maskable-512.png", sizes: "512x512", type: "image/png", purpose: "maskable" },
  ],
  shortcuts: [
    shortcut("New chat", paths.aiModels, "chat"),
    shortcut("Credits", paths.profile, "credits"),
    shortcut("Saved for offline", paths.offline, "saved"),
  ],
  screenshots: [
    screenshot("home-wide", 1280, 800, "The home page"),
    screenshot("chat-wide", 1280, 800, "A conversation, with the price of its answer"),
    screenshot("home-narrow", 750, 1334, "The home page on a phone"),
    screenshot("chat-narrow", 750, 1334, "A conversation on a phone"),
    screenshot("pricing-narrow", 750, 1334, "Plans and their credits"),
  ],
  share_target: {
    action: sharePath,
    method: "POST",
    enctype: "multipart/form-data",
    params: {
      title: "title",
      text: "text",
      url: "url",
      files: [
        {
          name: "files",
          accept: [
            "image/png",
            "image/jpeg",
            "image/webp",
            "image/gif",
            "application/pdf",
            "text/plain",
            "text/markdown",
            "text/csv",
            ".md",
            ".csv",
            // Recordings are written down.
            "audio/mpeg",
            "audio/wav",
            "audio/x-wav",
            "audio/mp4",
            "audio/x-m4a",
            "audio/aac",
            "audio/webm",
            "audio/ogg",
            ".mp3",
            ".wav",
            ".m4a",
            ".webm",
          ],
        },
      ],
    },
  },
} satisfies Partial<ManifestOptions>;
