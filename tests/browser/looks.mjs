// What is looked for in a page; these functions run inside of it.

// The answer, the figures and the main chart stand in the first screen of a desktop; a phone has at least the answer.
export const firstScreen = (chart, screen) => {
  const within = element => {
    const box = element?.getBoundingClientRect();
    return Boolean(box) && box.height > 0 && box.top >= 0 && box.top + Math.min(box.height, 120) <= innerHeight;
  };
  const wanted = screen === 'desktop' ? ['h1', '.figures', ...(chart ? ['.drawn .bars, .drawn svg.chart'] : [])] : ['h1'];
  const missing = wanted.filter(selector => ![...document.querySelectorAll(selector)].some(within));
  return missing.map(selector => `${selector} is not in the first screen`);
};

// Nothing reaches beyond the window, unless it scrolls in a box of its own.
export const overflowing = () => {
  const width = document.documentElement.clientWidth;
  const scrolls = element => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowX)) return true;
    }
    return false;
  };
  const out = [];
  if (document.documentElement.scrollWidth > width) out.push(`the page is ${document.documentElement.scrollWidth} wide, the window ${width}`);
  for (const element of document.querySelectorAll('body *')) {
    const box = element.getBoundingClientRect();
    if (box.width && box.height && (box.right > width + 1 || box.left < -1) && !scrolls(element)) {
      out.push(`<${element.localName} class="${element.getAttribute('class') ?? ''}"> ${Math.round(box.left)} to ${Math.round(box.right)}: ${element.textContent.trim().slice(0, 50)}`);
    }
  }
  return out;
};

// No two texts share room, as far as what cuts them off shows them; a column that stays while its table scrolls covers what moves below it, and is left out.
export const overlapping = () => {
  const shown = element => element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) && !element.closest('.unseen, [hidden], #tip');
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest('script, style, title, desc, option') || !shown(parent)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const clip = { left: -1e9, right: 1e9, top: -1e9, bottom: 1e9 };
    for (let at = parent; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.overflowX === 'visible' && style.overflowY === 'visible' || style.display === 'inline') continue;
      const box = at.getBoundingClientRect();
      Object.assign(clip, { left: Math.max(clip.left, box.left), right: Math.min(clip.right, box.right), top: Math.max(clip.top, box.top), bottom: Math.min(clip.bottom, box.bottom) });
    }
    for (const box of range.getClientRects()) {
      const [left, right] = [Math.max(box.left, clip.left), Math.min(box.right, clip.right)];
      const [top, bottom] = [Math.max(box.top + box.height * .2, clip.top), Math.min(box.bottom - box.height * .2, clip.bottom)];
      if (right - left > 1 && bottom - top > .6) boxes.push({ left, right, top, bottom, node, parent, text: node.data.trim() });
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  const out = [];
  for (let i = 0; i < boxes.length; i += 1) {
    for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom; j += 1) {
      const [a, b] = [boxes[i], boxes[j]];
      const sticky = a.parent.closest('th:first-child') || b.parent.closest('th:first-child');
      if (a.node !== b.node && !sticky && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) {
        out.push(`“${a.text.slice(0, 40)}” and “${b.text.slice(0, 40)}” at ${Math.round(b.left)}, ${Math.round(b.top + scrollY)}`);
      }
    }
  }
  return out;
};

// Letters of a chart shrink with it: below nine pixels nobody reads them.
export const tooSmall = () => {
  const out = [];
  for (const text of document.querySelectorAll('svg.chart text')) {
    const svg = text.ownerSVGElement.getBoundingClientRect();
    if (!svg.width) continue;
    const pixels = parseFloat(getComputedStyle(text).fontSize) * svg.width / text.ownerSVGElement.viewBox.baseVal.width;
    if (pixels < 9) out.push(`“${text.textContent}” is ${pixels.toFixed(1)} px high`);
  }
  return out;
};
