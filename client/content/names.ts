import { paths, signUpPath } from "#client/paths.ts";

/** The names of all pieces: the last part of their address (spec §2). A piece is `client/content/<language>/<name>.md`. */
export const guideNames = ["content-creation", "image-generation", "getting-started", "small-business-ai", "marketing"] as const;
export const articleNames = [
  "gpt-5-vs-gpt-4-small-business",
  "local-business-ai-tools-guide",
  "ai-customer-service-automation",
  "ai-social-media-marketing-restaurants",
  "small-business-ai-roi-calculator",
  "ai-content-workflow-small-business",
] as const;
/** The article that contains the calculator. */
export const calculatorName = "small-business-ai-roi-calculator" satisfies (typeof articleNames)[number];
export const legalNames = ["terms", "privacy"] as const;

const pieceKinds = ["guide", "article", "legal"] as const;
export type PieceKind = (typeof pieceKinds)[number];
export type PieceName = (typeof guideNames)[number] | (typeof articleNames)[number] | (typeof legalNames)[number];

export const pieceNames: readonly PieceName[] = [...guideNames, ...articleNames, ...legalNames];

export function isPieceName(name: string): name is PieceName {
  return pieceNames.some((known) => known === name);
}

export function kindOf(name: PieceName): PieceKind {
  if (guideNames.some((guide) => guide === name)) return "guide";
  return legalNames.some((legal) => legal === name) ? "legal" : "article";
}

export function piecePath(name: PieceName): string {
  return kindOf(name) === "article" ? `${paths.blog}/${name}` : `/${name}`;
}

export function pieceNameAt(pathname: string): PieceName | undefined {
  const path = pathname.replace(/\/$/, "");
  return pieceNames.find((name) => piecePath(name) === path);
}

const notForReaders: readonly string[] = [paths.admin, paths.adminPlace, paths.design];

/** The addresses that a text may link to: all that anybody may open. */
export const linkablePaths: readonly string[] = [
  ...new Set([signUpPath, ...Object.values(paths).filter((path) => !notForReaders.includes(path)), ...pieceNames.map(piecePath)]),
];
