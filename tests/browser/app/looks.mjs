// What is looked for in a page of the app besides what every page is held to (../looks.mjs); these functions run inside of it.

/** Exactly one heading names the page, and it says something. */
export const headings = () => {
  const all = [...document.querySelectorAll('h1, [role=heading][aria-level="1"]')].filter(one => one.checkVisibility() && one.textContent.trim());
  return all.length === 1 ? [] : [`${all.length} headings of the first level: ${all.map(one => `“${one.textContent.trim().slice(0, 60)}”`).join(', ')}`];
};

/** No text below eleven pixels, outside of charts, which have a measure of their own. */
export const small = () => {
  const out = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || parent.closest('svg, .unseen, script, style') || !parent.checkVisibility({ visibilityProperty: true })) continue;
    const size = parseFloat(getComputedStyle(parent).fontSize);
    if (size < 11) out.add(`“${walker.currentNode.data.trim().slice(0, 40)}” is ${size} px high`);
  }
  return [...out];
};

/** Where the keyboard is, and whether it shows: an outline on the element, or on what stands for it. */
export const focus = () => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const marked = element => {
    const style = element && getComputedStyle(element);
    return Boolean(style) && (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1 || style.boxShadow !== 'none');
  };
  const stands = [one, one.closest('label'), ...(one.labels ?? []), one.parentElement].filter(element => element && marked(element));
  const shown = stands.find(element => element.getBoundingClientRect().width >= 4) ?? stands[0];
  const box = (shown ?? one).getBoundingClientRect();
  const label = `<${one.localName}> “${(one.getAttribute('aria-label') || one.innerText || one.labels?.[0]?.innerText || one.name || one.id || '').trim().slice(0, 40)}”`;
  const problems = [];
  if (!shown) problems.push(`${label} has the focus, and nothing shows it`);
  else if (box.width < 4 || box.height < 4) problems.push(`${label} has the focus and is ${box.width} × ${box.height}`);
  else if (box.bottom < 0 || box.top > innerHeight || box.right < 0 || box.left > innerWidth) problems.push(`${label} has the focus outside of the window`);
  // Each element once: the walk ends where it began.
  const again = one.hasAttribute('data-walked');
  one.setAttribute('data-walked', '');
  return { label, problems, again };
};
