/** Runs in every page and frame of a context with traps (browser-traps.ts), before anything else. */

for (const name of ["alert", "confirm", "prompt", "print", "open"])
  Object.defineProperty(window, name, { value: () => window.trapped(`${name} was called`) });
document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sample }) =>
  window.trapped(`the policy refused ${effectiveDirective} ${blockedURI} ${sample}`),
);

const start = (element) => element.outerHTML.slice(0, 200);

const forbidden =
  "iframe, frame, object, embed, applet, base, style, meta[http-equiv], math[href], math [href], svg a, animate, set, foreignObject, script:not([src]):not([type='application/ld+json'])";
const addresses = ["href", "xlink:href", "src", "srcset", "action", "formaction", "data", "poster", "ping", "background"];

function isHarmless(element, name, value) {
  const { protocol, origin } = new URL(value, location.href);
  if (origin === location.origin) return true;
  if (element.localName === "img" && name === "src") return ["data:", "blob:"].includes(protocol);
  return element.localName === "a" && name === "href" && ["http:", "https:", "mailto:"].includes(protocol);
}

/** The attributes that run or load something. */
function hazardousAttributes(element) {
  return [...element.attributes].filter(
    ({ name, value }) => name.startsWith("on") || name === "srcdoc" || (addresses.includes(name) && !isHarmless(element, name, value)),
  );
}

/** A link to another site opens on its own and tells that site nothing. */
function isMarked({ origin, target, relList }) {
  return origin === location.origin || (target === "_blank" && relList.contains("noreferrer"));
}

/** Everything in the document that could run or load something, and unmarked links to other sites. */
window.hazards = () => [
  ...[...document.querySelectorAll(forbidden)].map((element) => `the element ${start(element)}`),
  ...[...document.querySelectorAll("*")].flatMap((element) =>
    hazardousAttributes(element).map(({ name, value }) => `${name}="${value}" in ${start(element)}`),
  ),
  ...[...document.querySelectorAll("a[href]")].filter((link) => !isMarked(link)).map((link) => `the unmarked link ${start(link)}`),
];
