/** Runs in a page whose `main` has paragraphs below each other, as a mail has. Returns what is cut off, sticks out or overlaps. */
window.misplaced = () => {
  const found = [];
  const nameOf = (element) => `${element.localName} “${element.textContent.trim().slice(0, 60)}”`;
  const boxOf = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return range.getBoundingClientRect();
  };
  /** Each word's place. The space at the end of a line may hang over. */
  function wordsOf(element) {
    const boxes = [];
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        boxes.push(...range.getClientRects());
      }
    }
    return boxes;
  }
  const { clientWidth, scrollWidth } = document.documentElement;
  if (scrollWidth !== clientWidth) found.push(`the page is ${scrollWidth} wide`);
  const blocks = [...document.querySelectorAll("main > *")];
  for (const [index, block] of blocks.entries()) {
    const text = boxOf(block);
    const frame = block.getBoundingClientRect();
    if (text.width === 0 || text.height === 0) found.push(`${nameOf(block)} is empty`);
    if (wordsOf(block).some(({ left, right }) => left < frame.left - 1 || right > frame.right + 1))
      found.push(`${nameOf(block)} sticks out`);
    const below = blocks[index + 1];
    if (below && boxOf(below).top < text.bottom) found.push(`${nameOf(below)} lies on ${nameOf(block)}`);
  }
  for (const element of document.querySelectorAll("main *")) {
    const { overflowX, overflowY } = getComputedStyle(element);
    const isCut = element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1;
    if (isCut && !(overflowX === "visible" && overflowY === "visible")) found.push(`${nameOf(element)} is cut off`);
  }
  for (const element of document.querySelectorAll("main .whole"))
    if (element.getClientRects().length !== 1) found.push(`${nameOf(element)} is broken`);
  const button = document.querySelector(".action");
  if (button) {
    const frame = button.getBoundingClientRect();
    const isOutside = ({ left, right, top, bottom }) =>
      left < frame.left || right > frame.right || top < frame.top || bottom > frame.bottom;
    if (wordsOf(button).some(isOutside)) found.push(`the words of ${nameOf(button)} are outside of it`);
  }
  return found;
};
