// What a reader does with a page: chooses a figure, filters, takes a card out, enlarges a chart, takes it along.

const settled = () => new Promise(done => setTimeout(done, 50));

// The bars and tables of a comparison follow what is chosen.
export async function chooses(tab) {
  const problems = [];
  const expect = (what, is, wanted) => { if (is !== wanted) problems.push(`${what}: ${is}, not ${wanted}`); };
  const first = () => tab.$eval('.bars li[data-r]', row => row.querySelector('b').textContent);
  const average = await first();
  await tab.select('.choices select', '2');
  const [best, known] = [Number(await first()), await tab.$eval('.bars li[data-r]', row => Number(row.dataset.v.split(' ')[2]))];
  expect('the best run is shown', Math.abs(best - known) <= .005 * known, true);
  await tab.select('.choices select', '4');
  expect('every run has a bar', await tab.$eval('.bars li[data-r]', row => row.querySelectorAll('rect').length === row.dataset.r.split(' ').length), true);
  await tab.select('.choices select', '0');
  expect('and back', await first(), average);

  const groups = () => tab.$$eval('.bars .group', all => all.filter(one => one.checkVisibility()).length);
  const rows = () => tab.$$eval('main tbody tr', all => all.filter(one => !one.classList.contains('off')).length);
  const [allGroups, allRows] = [await groups(), await rows()];
  await tab.type('.choices input[type=search]', 'q1t1 read');
  expect('the filter leaves some bars', (await groups()) > 0 && (await groups()) < allGroups, true);
  expect('and some rows of tables', (await rows()) > 0 && (await rows()) < allRows, true);
  await tab.$eval('.choices input[type=search]', input => { input.value = ''; input.dispatchEvent(new Event('input')); });
  expect('without it all are there', await rows(), allRows);

  await tab.$$eval('.choice', all => all.forEach(part => { part.open = true; }));
  const bars = () => tab.$$eval('.bars li[data-r]', all => all.filter(one => one.checkVisibility()).length);
  const allBars = await bars();
  await tab.click('.legend button');
  expect('a name takes its card out', (await bars()) < allBars, true);
  expect('and says so', await tab.$eval('.legend button', button => button.getAttribute('aria-pressed')), 'false');
  await tab.click('.legend button');
  expect('and brings it back', await bars(), allBars);

  await tab.hover('.bars li[data-r]');
  await settled();
  const tip = await tab.$eval('#tip', one => one.hidden ? '' : one.textContent);
  expect('values stand under the pointer', /average .* MB\/s/.test(tip), true);
  return problems;
}

// Every chart can be enlarged and taken along, as a picture of either kind and as numbers.
export async function takes(tab) {
  await tab.evaluate(() => {
    globalThis.taken = [];
    URL.createObjectURL = blob => { globalThis.taken.push(blob); return 'blob:none'; };
    HTMLAnchorElement.prototype.click = () => {};
    document.querySelectorAll('details').forEach(part => { part.open = true; });
  });
  const problems = [];
  const charts = await tab.$$('main .drawn');
  if (!charts.length) problems.push('there is no chart');
  for (const chart of charts) {
    const title = await chart.$eval('figcaption', caption => caption.firstChild.textContent);
    const press = name => chart.$$eval('.tools button', (all, name) => all.find(one => one.textContent === name).click(), name);
    const last = () => tab.evaluate(async () => {
      const blob = globalThis.taken.pop();
      if (!blob) return null;
      const text = await blob.text();
      const sound = !blob.type.includes('svg') || !new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror');
      return { kind: blob.type, bytes: blob.size, rows: text.split('\n').length, sound, letters: /<text/.test(text) };
    });
    await press('SVG');
    const svg = await last();
    if (!svg?.sound || !svg.letters) problems.push(`${title}: no sound SVG: ${JSON.stringify(svg)}`);
    await press('CSV');
    const csv = await last();
    if (!(csv?.rows > 2)) problems.push(`${title}: no numbers: ${JSON.stringify(csv)}`);
    await press('PNG');
    await tab.waitForFunction(() => globalThis.taken.length, { timeout: 5000 }).catch(() => {});
    const png = await last();
    if (!(png?.kind === 'image/png' && png.bytes > 2000)) problems.push(`${title}: no PNG: ${JSON.stringify(png)}`);
    await press('Enlarge');
    const larger = await tab.$eval('dialog[open]', one => one.querySelector('.drawn').getBoundingClientRect().width).catch(() => 0);
    const small = await chart.evaluate(one => one.getBoundingClientRect().width);
    if (larger < small) problems.push(`${title}: enlarged from ${small} to ${larger}`);
    await tab.$eval('dialog[open] .close', button => button.click()).catch(() => {});
  }
  return problems;
}
