import type { CaughtMail } from "../mail/store.ts";
import { timeOf } from "./format.ts";
import type { Html } from "./html.ts";
import { html } from "./html.ts";

/** A short label for a link that still distinguishes it from the others. */
function labelOf(link: string): string {
  const url = new URL(link);
  return url.pathname === "/" ? url.host : url.pathname;
}

function mailItem(mail: CaughtMail): Html {
  const links = mail.links
    .slice(0, 6)
    .map((link) => html`<a class="chip" href="${link}" title="${link}" rel="noreferrer">${labelOf(link)}</a>`);
  const body =
    mail.html === ""
      ? html`<pre class="mail-text">${mail.text}</pre>`
      : html`<iframe class="mail-body" src="/mail/${mail.id}/body" loading="lazy" sandbox="allow-popups allow-popups-to-escape-sandbox" title="${mail.subject}"></iframe>`;
  return html`
    <li class="item">
      <p class="item-head"><strong>${mail.subject === "" ? "(no subject)" : mail.subject}</strong><span class="soft">${timeOf(new Date(mail.receivedAt))}</span></p>
      <p class="soft">To ${mail.to}</p>
      ${links.length > 0 ? html`<p class="chips">${links}</p>` : undefined}
      <details><summary>Read</summary>${body}</details>
    </li>`;
}

export function mailSection(mails: readonly CaughtMail[], total: number): Html {
  const list =
    mails.length === 0
      ? html`<p class="empty">No mail yet. What the product sends stands here at once; nothing leaves this machine.</p>`
      : html`<ul class="items">${mails.map(mailItem)}</ul>`;
  return html`
  <section id="mail" class="card" aria-labelledby="mail-heading" data-live>
    <h2 id="mail-heading">Outbox${total > 0 ? html` <span class="count">${total}</span>` : undefined}</h2>
    ${list}
    ${total > mails.length ? html`<p class="soft">The newest ${mails.length} of ${total}. Scripts read more at <code>/mail?to=</code>.</p>` : undefined}
  </section>`;
}
