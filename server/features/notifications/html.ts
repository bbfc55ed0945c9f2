/** A mail as HTML that follows the reader's light or dark theme. Mail programs differ: without these styles it is still in order. */
import type { LanguageCode } from "#domain/languages.ts";
import type { Paragraph } from "./contract-terms.ts";

export interface Parts {
  subject: string;
  lead: string;
  detail: string;
  /** Empty: there is no button. */
  action: string;
  note: string;
  /** Empty except in mails that confirm a contract. */
  contract: readonly Paragraph[];
  signature: string;
  /** Who writes, and how to answer. */
  footer: string;
  /** The name and postal address of whoever offers the product. */
  sender: string;
  address: string;
  /** Says how to get no more mails like this one. Empty for mails that are always sent. */
  leave: string;
  leaveAddress: string;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const style = `:root{color-scheme:light dark}body{margin:0;padding:32px 20px;background:#faf7f2;color:#29241f;font:16px/1.6 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:520px;margin:0 auto;overflow-wrap:anywhere}h1,h2{margin:0 0 20px;font-size:22px;line-height:1.3;font-weight:600;text-wrap:balance}h2{margin:28px 0 8px;font-size:17px}p{margin:0 0 16px;text-wrap:pretty}
:lang(ja){word-break:auto-phrase}p:lang(ja){text-wrap:wrap}.whole{white-space:nowrap}
a{color:inherit}.action{display:inline-block;padding:12px 20px;border-radius:4px;background:#a63d22;color:#ffffff;text-align:center;text-decoration:none;text-wrap:balance;font-weight:600}
.detail{white-space:pre-wrap}
.quiet,.quiet a{color:#6a6259;font-size:14px}.address,.address a{word-break:break-all}.end{margin-top:32px;padding-top:16px;border-top:1px solid #ddd5ca}
@media(prefers-color-scheme:dark){body{background:#1c1916;color:#efe9e1}.quiet,.quiet a{color:#aea59a}.end{border-color:#3b352f}}`;

/**
 * An invoice's number such as ABCD-0001, which people copy by eye when they pay by transfer; "E-Mail"; a day with its month; a time with its
 * zone. Their lengths are limited, so that nothing that a person wrote is wider than a phone.
 */
const unbroken = new RegExp(
  [
    String.raw`\b[A-Z0-9]{4,12}-\d{4,6}\b`,
    String.raw`\b[Ee]-[Mm]ail\b`,
    String.raw`\b\d{1,2}\.?(?: de)? \p{L}{3,12}(?=(?: de)? \d{4})`,
    String.raw`\b\p{Lu}\p{L}{2,11} \d{1,2}(?=, \d{4})`,
    String.raw`\d{4}年\d{1,2}月\d{1,2}日`,
    String.raw`\b\d{1,2}:\d\d(?:\s[AP]M)?(?:\sUTC)?\b`,
  ].join("|"),
  "gu",
);

/** Keeps in one line what is read as one word. */
function whole(html: string): string {
  return html.replace(unbroken, '<span class="whole">$&</span>');
}

/** Makes links of our own addresses. Any other address may have been typed by a person. */
function linked(publicUrl: URL, html: string): string {
  return html.replace(/https?:\/\/[\w.:-]+\/[\w/#-]+/g, (address) =>
    address.startsWith(`${publicUrl.origin}/`) ? `<a href="${address}">${address}</a>` : address,
  );
}

export function toHtml(language: LanguageCode, publicUrl: URL, parts: Parts): string {
  const { contract, ...texts } = parts;
  const { subject, lead, detail, action, note, signature, footer, sender, address, leave, leaveAddress } = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, escapeHtml(text)]),
  ) as unknown as typeof texts;
  const ours = (html: string) => linked(publicUrl, whole(html));
  const paragraphs = contract.map(
    ({ title, text }) =>
      `${title ? `<h2 dir="auto">${escapeHtml(title)}</h2>\n` : ""}<p class="detail" dir="auto">${ours(escapeHtml(text))}</p>\n`,
  );
  // A reader needs the address to write to, not the scheme.
  const shown = parts.address.startsWith("mailto:") ? escapeHtml(decodeURIComponent(parts.address.slice("mailto:".length))) : address;
  const button =
    action && `<p><a class="action" href="${address}">${action}</a></p>\n<p class="quiet address"><a href="${address}">${shown}</a></p>\n`;
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${subject}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1 dir="auto">${whole(subject)}</h1>
<p>${whole(lead)}</p>
<p class="detail" dir="auto">${whole(detail)}</p>
${button}<p class="quiet">${ours(note)}</p>
${paragraphs.join("")}<p class="quiet end">${signature}<br>${ours(footer)}<br>${sender}${leave && `<br><a href="${leaveAddress}">${leave}</a>`}</p>
</main>
</body>
</html>
`;
}
