/** What a mailed link that leads to this page is for. Its query parameter has the same name. */
const purposes = ["confirm", "recover", "change", "undo", "disown", "keep-factors", "reset-factors"] as const;

export interface MailedToken {
  purpose: (typeof purposes)[number];
  token: string;
}

export function readMailedToken(search: URLSearchParams): MailedToken | null {
  for (const purpose of purposes) {
    const token = search.get(purpose);
    if (token !== null) return { purpose, token };
  }
  return null;
}
