/**
 * Runs in a page, and returns the controls that a finger or a mouse can't hit because something else is in front. If something covers a
 * control where it is, the control is scrolled elsewhere and looked at again, so that only what is fixed in front of the page counts. The
 * controls within `still` may not be covered even without scrolling.
 */
window.covered = (still) => {
  const controls = "a[href], button, input:not([type=hidden]), select, textarea, summary";
  const place = [...document.querySelectorAll("dialog:modal")].at(-1) ?? document;

  function nameOf(element) {
    const words = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent ?? "";
    return `${element.localName} “${words.trim().replace(/\s+/g, " ").slice(0, 60)}”`;
  }

  /** The middle of its first line: a link in a text may take several. */
  function middleOf(element) {
    const [box] = element.getClientRects();
    return box && box.width > 1 && box.height > 1 ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : undefined;
  }

  const isInWindow = ({ x, y }) => x >= 0 && y >= 0 && x < document.documentElement.clientWidth && y < innerHeight;

  /** What would get the tap instead; undefined if the control gets it. */
  function coverOf(element) {
    const middle = middleOf(element);
    if (!middle || !isInWindow(middle)) return undefined;
    const hit = document.elementFromPoint(middle.x, middle.y);
    const isOwn = hit !== null && (element.contains(hit) || [...(element.labels ?? [])].some((label) => label.contains(hit)));
    return isOwn ? undefined : (hit ?? document.documentElement);
  }

  function describe(element, cover) {
    const { x, y } = middleOf(element);
    return `${nameOf(element)} at ${Math.round(x)}, ${Math.round(y)} is under ${cover.outerHTML.slice(0, 120)}`;
  }

  const shown = [...place.querySelectorAll(controls)].filter(
    (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest("[inert]"),
  );
  const scrollers = [...document.querySelectorAll("*")].filter(({ scrollTop, scrollLeft }) => scrollTop !== 0 || scrollLeft !== 0);
  const before = scrollers.map(({ scrollTop, scrollLeft }) => ({ scrollTop, scrollLeft }));
  const found = [];
  for (const element of shown) {
    const cover = coverOf(element);
    if (cover === undefined) continue;
    if (still !== null && element.closest(still)) {
      found.push(describe(element, cover));
      continue;
    }
    const isReachedAt = (block) => {
      element.scrollIntoView({ block, inline: "nearest", behavior: "instant" });
      return coverOf(element) === undefined;
    };
    if (!["center", "start", "end"].some(isReachedAt)) found.push(describe(element, coverOf(element)));
  }
  for (const element of document.querySelectorAll("*")) {
    const kept = before[scrollers.indexOf(element)] ?? { scrollTop: 0, scrollLeft: 0 };
    if (element.scrollTop !== kept.scrollTop || element.scrollLeft !== kept.scrollLeft)
      element.scrollTo({ top: kept.scrollTop, left: kept.scrollLeft, behavior: "instant" });
  }
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push(`the page is ${scrollWidth - clientWidth} pixels wider than the window`);
  return found;
};
