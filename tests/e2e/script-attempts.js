/** Runs in the pages of content-security.test.ts: what a hostile text would do if it got as far as the page's own code. */

const code = "trapped('a text ran')";
const markup = `<img src=x onerror="${code}"><script>${code}</script>`;

/** Tries every way to make text into HTML, a script or a script's address; returns the ways that were not refused. */
window.openWays = () => {
  const host = document.createElement("div");
  document.body.append(host);
  const attempts = {
    innerHTML: () => {
      host.innerHTML = markup;
    },
    outerHTML: () => {
      host.outerHTML = markup;
    },
    srcdoc: () => {
      document.createElement("iframe").srcdoc = markup;
    },
    "a script's text": () => {
      document.createElement("script").text = code;
    },
    "a script's address": () => {
      document.createElement("script").src = "https://elsewhere.example/x.js";
    },
    insertAdjacentHTML: () => host.insertAdjacentHTML("beforeend", markup),
    "document.write": () => document.write(markup),
    setHTMLUnsafe: () => host.setHTMLUnsafe(markup),
    createContextualFragment: () => document.createRange().createContextualFragment(markup),
    "a parser": () => new DOMParser().parseFromString(markup, "text/html"),
    "a handler": () => host.setAttribute("onclick", code),
    "a worker": () => new Worker("/assets/x.js"),
    "a timer": () => setTimeout(code, 0),
    "a policy of its own": () => window.trustedTypes.createPolicy("other", {}),
    "a policy for everything": () => window.trustedTypes.createPolicy("default", {}),
  };
  const open = Object.entries(attempts).filter(([, attempt]) => {
    try {
      attempt();
      return true;
    } catch {
      return false;
    }
  });
  host.remove();
  return open.map(([name]) => name);
};

function outcomeOf(name, attributes) {
  return new Promise((resolve) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.addEventListener("load", () => resolve("loaded"));
    element.addEventListener("error", () => resolve("refused"));
    document.body.append(element);
  });
}

/** Resolves with what became of requests to another site. */
window.askElsewhere = () =>
  Promise.all([
    outcomeOf("img", { src: "https://elsewhere.example/p.png" }),
    outcomeOf("link", { rel: "stylesheet", href: "https://elsewhere.example/s.css" }),
    outcomeOf("video", { src: "https://elsewhere.example/v.mp4" }),
    fetch("https://elsewhere.example/").then(
      () => "loaded",
      () => "refused",
    ),
  ]);
