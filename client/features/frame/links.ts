import { paths } from "#client/paths.ts";

/** Spec §2, "Navigation bar": the links that everybody sees, in order; plus the prices, which most visitors look for. */
export const barLinks = [
  { path: paths.home, key: "navigation.home" },
  { path: paths.aiModels, key: "navigation.chat" },
  { path: paths.pricing, key: "footer.pricing" },
  { path: paths.about, key: "navigation.about" },
  { path: paths.contact, key: "navigation.contact" },
  { path: paths.marketing, key: "navigation.marketing" },
] as const;

/** Spec §2, "Footer links". */
export const footerLinks = [
  { path: paths.aiModels, key: "navigation.aiModels" },
  { path: paths.pricing, key: "footer.pricing" },
  { path: paths.blog, key: "footer.blog" },
  { path: paths.about, key: "navigation.about" },
  { path: paths.terms, key: "footer.terms" },
  { path: paths.privacy, key: "footer.privacy" },
  { path: paths.contact, key: "navigation.contact" },
] as const;
