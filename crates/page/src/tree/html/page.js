// What the script adds to a page below `root`: the document, or a part of an app's page. `done`, a signal, takes its listeners
// away again.
export const enhance = (root, done) => {
  const all = (selector, from = root) => [...from.querySelectorAll(selector)];
  const numbers = text => (text || '').split(' ').filter(Boolean).map(Number);
  const SVG = 'http://www.w3.org/2000/svg';
  const MEASURES = ['average', 'worst', 'best', 'median'];

  // An element with attributes and content.
  const make = (name, attributes = {}, ...content) => {
    const element = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    element.append(...content);
    return element;
  };

  // A figure with as many digits as the page's own.
  const speed = v => {
    const [size, digits] = [Math.abs(v), v.toPrecision(3)];
    return !isFinite(v) ? '–' : size >= 1e9 ? v.toExponential(3) : size >= 99.95 ? v.toFixed(0) : size >= 0.001 ? String(digits) : v.toFixed(3);
  };
  const written = (v, unit) => unit === 'points' ? v.toFixed(1) : speed(v);
  const withUnit = (v, unit) => unit === 'GB' && v < 1 ? `${speed(v * 1e3)} MB` : `${written(v, unit)} ${unit}`;

  // The end of a scale: a round number beyond all that is drawn.
  const scaleEnd = most => {
    if (!(most > 0)) return 1;
    const decade = 10 ** Math.floor(Math.log10(most));
    return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map(n => n * decade).find(end => end >= most) || most;
  };

  // ---- The values under the pointer ----
  const tip = make('div', { id: 'tip', role: 'status', hidden: '' });
  document.body.append(tip);
  const show = (text, x, y) => {
    // A dialog covers everything that does not stand in it.
    (document.querySelector('dialog[open]') || document.body).append(tip);
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(6, Math.min(x + 14, innerWidth - box.width - 6)) + 'px';
    tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(6, y - box.height - 12) : y + 18) + 'px';
  };
  const hide = () => { tip.hidden = true; };
  addEventListener('scroll', hide, { passive: true, signal: done });
  addEventListener('keydown', event => { if (event.key === 'Escape') hide(); }, { signal: done });
  done?.addEventListener('abort', () => tip.remove());

  const measured = row => numbers(row.dataset.v).length === 4;
  const words = row => {
    const { name, unit } = row.closest('.group').dataset;
    const values = numbers(row.dataset.v);
    const [ends, runs] = [numbers(row.dataset.ci), numbers(row.dataset.r)];
    const lines = [row.children[0].textContent, name];
    values.forEach((v, i) => lines.push(`${measured(row) ? MEASURES[i] + ' ' : ''}${withUnit(v, unit)}`));
    if (ends.length) lines.push(`95 % interval ${written(ends[0], unit)} … ${written(ends[1], unit)} ${unit}`);
    if (runs.length) lines.push(`${runs.length} run${runs.length === 1 ? '' : 's'}: ${runs.map(speed).join('  ')} ${unit}`);
    return lines.join('\n');
  };
  const light = of => all('.bars li[data-r]').forEach(row => row.classList.toggle('lit', of !== null && row.dataset.of === of));

  // Curves: the values are read back from the picture.
  const axis = text => {
    if (!text) return null;
    const [unit, scale, low, high, from, to] = text.split('|');
    const back = { linear: v => v, log2: v => 2 ** v, log10: v => 10 ** v }[scale];
    return { unit, read: place => back(Number(low) + (place - from) / (to - from) * (high - low)) };
  };
  const sized = bytes => {
    const fit = [['TiB', 40], ['GiB', 30], ['MiB', 20], ['KiB', 10]].find(([, power]) => bytes >= 2 ** power * .999);
    return fit ? `${+(bytes / 2 ** fit[1]).toFixed(1)} ${fit[0]}` : `${Math.round(bytes)} B`;
  };
  const timed = us => us >= 999.5e3 ? `${+(us / 1e6).toPrecision(3)} s` : us >= 999.5 ? `${+(us / 1e3).toPrecision(3)} ms` : `${+us.toPrecision(3)} µs`;
  const said = (v, unit) => unit === 'bytes' ? sized(v) : unit === 'µs' ? timed(v) : `${+v.toPrecision(3)} ${unit}`;
  const nearest = (list, at) => list.reduce((best, p) => Math.abs(p - at) < Math.abs(best - at) ? p : best);
  const curves = new WeakMap();
  const read = svg => {
    if (!curves.has(svg)) {
      const [x, y, z] = ['x', 'y', 'z'].map(name => axis(svg.dataset[name]));
      const lines = all('path[data-name]', svg).map(path => ({
        name: path.dataset.name,
        axis: z && path.dataset.unit === z.unit && path.dataset.unit !== y.unit ? z : y,
        points: path.getAttribute('d').slice(1).split('L').map(point => point.split(' ').map(Number)),
      }));
      const places = [...new Set(lines.flatMap(line => line.points.map(([at]) => at)))].sort((a, b) => a - b);
      curves.set(svg, { x, lines, places, here: -1 });
    }
    return curves.get(svg);
  };
  const leave = svg => { hide(); svg.querySelector('.cursor')?.remove(); read(svg).here = -1; };
  const move = (svg, index) => {
    const of = read(svg);
    if (!of.places.length) return;
    of.here = Math.max(0, Math.min(of.places.length - 1, index));
    const at = of.places[of.here];
    const [, , , , bottom, top] = svg.dataset.y.split('|');
    let cursor = svg.querySelector('.cursor');
    if (!cursor) {
      cursor = document.createElementNS(SVG, 'path');
      cursor.setAttribute('class', 'cursor');
      svg.querySelector('path[data-name]').parentNode.append(cursor);
    }
    cursor.setAttribute('d', `M${at} ${top}V${bottom}`);
    const lines = [said(of.x.read(at), of.x.unit)];
    of.lines.forEach(line => {
      const close = nearest(line.points.map(p => p[0]), at);
      const point = line.points.find(p => p[0] === close);
      if (point && Math.abs(close - at) < 25) lines.push(`${line.name}: ${said(line.axis.read(point[1]), line.axis.unit)}`);
    });
    const box = svg.getBoundingClientRect();
    show(lines.join('\n'), box.left + at / svg.viewBox.baseVal.width * box.width, box.top + box.height / 3);
  };
  let under = null;
  const over = event => {
    const found = event.target.closest?.('.bars li[data-v], svg[data-x]') ?? null;
    if (under && under !== found) {
      if (under.dataset.x) leave(under); else { hide(); light(null); }
    }
    under = found;
    if (!found) return;
    if (found.dataset.x) {
      const box = found.getBoundingClientRect();
      const { places } = read(found);
      if (places.length) move(found, places.indexOf(nearest(places, (event.clientX - box.left) / box.width * found.viewBox.baseVal.width)));
    } else {
      light(found.dataset.r ? found.dataset.of : null);
      show(words(found), event.clientX, event.clientY);
    }
  };
  root.addEventListener('pointermove', over, { signal: done });
  root.addEventListener('click', over, { signal: done });
  const reachable = svg => {
    svg.setAttribute('tabindex', '0');
    svg.addEventListener('focus', () => { if (read(svg).here < 0 && svg.matches(':focus-visible')) move(svg, 0); });
    svg.addEventListener('blur', () => leave(svg));
    svg.addEventListener('keydown', event => {
      const step = { ArrowRight: 1, ArrowLeft: -1, Home: -1e9, End: 1e9 }[event.key];
      if (step) { event.preventDefault(); move(svg, read(svg).here + step); }
    });
  };
  all('svg[data-x]').forEach(reachable);

  // ---- Choosing: what the bars show, of which cards, in which order; one filter for bars and tables ----
  const choice = { measure: 0, order: 'given', filter: '', same: false };
  const off = new Set();
  const value = row => numbers(row.dataset.v)[measured(row) && choice.measure < 4 ? choice.measure : 0];

  const draw = (row, end, unit) => {
    const svg = row.querySelector('svg');
    const along = v => Math.round(1000 * Math.min(Math.max(v / end, 0), 1));
    const [runs, ends, shown] = [numbers(row.dataset.r), numbers(row.dataset.ci), value(row)];
    const each = choice.measure === 4 && runs.length > 0;
    const whiskers = choice.measure === 0 && ends.length > 0;
    const high = Math.max(14, runs.length * 5);
    svg.setAttribute('viewBox', `0 0 1000 ${each ? high : 14}`);
    svg.style.height = each ? `${Math.max(15, runs.length * 5)}px` : '';
    const part = (name, attributes) => {
      const element = document.createElementNS(SVG, name);
      Object.entries(attributes).forEach(([key, v]) => element.setAttribute(key, v));
      return element;
    };
    const parts = each
      ? runs.map((run, i) => part('rect', { width: along(run), y: i * high / runs.length, height: high / runs.length * .82 }))
      : [part('rect', { width: along(shown), height: 10 }), part('path', { class: 'runs', d: runs.map(run => `M${along(run)} 11v3`).join('') })];
    if (whiskers) {
      const [low, top] = ends.map(along);
      parts.push(part('path', { class: 'whisker', d: `M${low} 3v4M${low} 5H${top}M${top} 3v4` }));
    }
    svg.replaceChildren(...parts);
    row.querySelector('b').textContent = written(shown, unit);
    const more = whiskers ? ends : each ? [Math.min(...runs), Math.max(...runs)] : [];
    row.querySelector('small').textContent = more.map(v => written(v, unit)).join(' … ');
  };

  const redraw = () => {
    const wanted = choice.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = text => wanted.every(word => text.toLowerCase().includes(word));
    all('main .bars').forEach(bars => {
      const groups = all('.group', bars).map(group => {
        const rows = all('li[data-v]', group);
        rows.forEach(row => row.classList.toggle('off',
          (!!row.dataset.r && off.has(row.dataset.of)) || !fits(`${group.dataset.name} ${row.children[0].textContent}`)));
        const shown = rows.filter(row => !row.classList.contains('off'));
        group.classList.toggle('off', !shown.length);
        const most = Math.max(0, ...shown.flatMap(row => [value(row), ...numbers(row.dataset.r), ...numbers(row.dataset.ci)]));
        return { group, rows, shown, most };
      });
      const together = Math.max(0, ...groups.map(of => of.most));
      groups.filter(of => of.rows.some(measured)).forEach(({ group, rows, shown, most }) => {
        const unit = group.dataset.unit;
        const end = scaleEnd(choice.same ? together : most);
        group.dataset.end = end;
        group.querySelector('.scale span').textContent = `0 to ${+end.toPrecision(4)} ${unit}`;
        shown.forEach(row => draw(row, end, unit));
        const by = {
          given: (a, b) => a.dataset.of - b.dataset.of,
          name: (a, b) => a.children[0].textContent.localeCompare(b.children[0].textContent),
          fastest: (a, b) => value(b) - value(a),
        }[choice.order];
        group.querySelector('ol').append(...rows.sort(by));
      });
    });
    all('main table').forEach(table => {
      const rows = all('tbody tr', table);
      const some = rows.some(row => fits(row.textContent));
      // A table about something else stays as it is.
      rows.forEach(row => row.classList.toggle('off', some && !fits(row.textContent)));
    });
  };

  const first = all('.drawn').find(figure => all('li[data-r]', figure).some(measured));
  const long = all('main table').find(table => all('tbody tr', table).length > 15);
  const field = (label, name, input, of = 'value') => {
    input.addEventListener('input', () => { choice[name] = name === 'measure' ? Number(input.value) : input[of]; redraw(); });
    return make('label', {}, ...(of === 'checked' ? [input, ' ' + label] : [label + ' ', input]));
  };
  const select = options => make('select', {}, ...options.map(([key, text]) => make('option', { value: key }, text)));
  const filter = example => field('Filter', 'filter', make('input', { type: 'search', placeholder: example, size: '16' }));
  if (first) {
    const measures = [...MEASURES.map((name, i) => [i, name[0].toUpperCase() + name.slice(1)]), [4, 'All runs']];
    const orders = [['given', 'As compared'], ['fastest', 'Fastest first'], ['name', 'By name']];
    const form = make('form', { class: 'choices' }, field('Figure', 'measure', select(measures)), field('Order', 'order', select(orders)),
      filter('e.g. RND4K write'), field('One scale for all', 'same', make('input', { type: 'checkbox' }), 'checked'));
    form.addEventListener('submit', event => event.preventDefault());
    const bars = first.querySelector('.bars');
    const names = new Map(all('li[data-v]', bars).map(row => [row.dataset.of, row.children[0].textContent]));
    const legend = make('ul', { class: bars.classList.contains('coloured') ? 'legend few' : 'legend', 'aria-label': 'Shown' });
    [...names].sort((a, b) => a[0] - b[0]).forEach(([of, name]) => {
      const button = make('button', { type: 'button', 'aria-pressed': 'true', 'data-of': of }, name);
      button.addEventListener('click', () => {
        off.has(of) ? off.delete(of) : off.add(of);
        button.setAttribute('aria-pressed', String(!off.has(of)));
        redraw();
      });
      button.addEventListener('pointerenter', () => light(of));
      button.addEventListener('pointerleave', () => light(null));
      legend.append(make('li', {}, button));
    });
    const folded = names.size > 8 ? make('details', { class: 'choice' }, make('summary', {}, `Shown: ${names.size}`), legend) : legend;
    first.before(form, ...(names.size > 1 ? [folded] : []));
  } else if (long) {
    const form = make('form', { class: 'choices' }, filter('words'));
    form.addEventListener('submit', event => event.preventDefault());
    (long.closest('.wide') ?? long).before(form);
  }

  // ---- Taking a chart along: larger, as a picture, as numbers ----
  const escaped = text => text.replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);
  const title = figure => figure.querySelector('figcaption').firstChild.textContent;
  const file = (figure, ending) => `${title(figure).toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'chart'}.${ending}`;
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    const names = ['background', 'ink', 'dim', 'line', 'soft', 'bad', ...[1, 2, 3, 4, 5, 6, 7, 8].map(n => 'c' + n)];
    const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]).map(rule => rule.cssText).filter(rule => rule.startsWith('.chart'));
    return `.chart{${names.map(name => `--${name}:${style.getPropertyValue('--' + name)}`).join(';')}}${rules.join('')}`;
  };

  // The bars that are shown, as elements of a picture, and their height.
  const barsDrawn = (figure, width) => {
    const [left, right] = [200, 190];
    const room = width - left - right;
    const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + '…' : text;
    const out = [];
    let y = 0;
    const text = (x, words, attributes = '') => out.push(`<text x="${x}" y="${y}" ${attributes}>${escaped(words)}</text>`);
    all('.group:not(.off)', figure).forEach(group => {
      y += 22;
      text(16, cut(group.dataset.name, 60), 'font-weight="600"');
      text(left + room, group.querySelector('.scale span').textContent, 'text-anchor="end" class="dim"');
      y += 6;
      all('li.limit', group).forEach(limit => {
        const at = left + room * Math.min(1, limit.dataset.at / group.dataset.end);
        y += 13;
        text(at, limit.textContent.trim(), `font-size="11" class="lost" text-anchor="${at > left + room / 2 ? 'end' : 'start'}"`);
        y += 3;
      });
      const top = y;
      all('li[data-v]:not(.off)', group).forEach(row => {
        const box = row.querySelector('svg').viewBox.baseVal;
        const high = Math.max(12, box.height);
        out.push(`<rect class="track" x="${left}" y="${y}" width="${room}" height="${high}"/>`);
        const inner = [...row.querySelector('svg').children].map(part => {
          const style = getComputedStyle(part);
          const colour = part.localName === 'rect' ? `fill="${style.fill}"` : `fill="none" stroke="${style.stroke}" stroke-width="1.4" vector-effect="non-scaling-stroke"`;
          return part.localName === 'rect'
            ? `<rect ${colour} y="${part.getAttribute('y') || 0}" width="${part.getAttribute('width')}" height="${part.getAttribute('height')}"/>`
            : `<path ${colour} d="${part.getAttribute('d')}"/>`;
        });
        out.push(`<svg x="${left}" y="${y}" width="${room}" height="${high}" viewBox="0 0 1000 ${box.height}" preserveAspectRatio="none">${inner.join('')}</svg>`);
        y += 11;
        text(left - 8, cut(row.children[0].textContent, 28), 'text-anchor="end"');
        text(left + room + 8, [row.querySelector('b').textContent, row.querySelector('small').textContent].filter(Boolean).join('  '));
        y += high - 11 + 4;
      });
      all('li.limit', group).forEach(limit => {
        const at = left + room * Math.min(1, limit.dataset.at / group.dataset.end);
        out.push(`<path class="limit" d="M${at} ${top}V${y - 3}"/>`);
      });
    });
    return { body: out.join('\n'), width, height: y + 4 };
  };
  const drawn = figure => {
    if (figure.querySelector('.bars')) return barsDrawn(figure, 900);
    const svg = all('svg.chart', figure).find(one => one.getClientRects().length) || figure.querySelector('svg.chart');
    const { width, height } = svg.viewBox.baseVal;
    const parts = [...svg.children].filter(part => part.localName !== 'title' && !part.classList.contains('cursor'));
    return { body: parts.map(part => new XMLSerializer().serializeToString(part)).join('\n'), width, height };
  };
  const picture = figure => {
    const { body, width, height } = drawn(figure);
    const caption = figure.querySelector('.caption')?.textContent || '';
    const lines = [''];
    caption.split(/\s+/).forEach(word => {
      if ((lines.at(-1) + word).length * 5.6 > width - 32) lines.push('');
      lines[lines.length - 1] += word + ' ';
    });
    const high = height + 34 + lines.length * 15 + 8;
    const below = lines.map((line, i) => `<text class="dim" font-size="11" x="16" y="${height + 48 + i * 15}">${escaped(line)}</text>`);
    return {
      width, height: high,
      text: `<svg xmlns="${SVG}" viewBox="0 0 ${width} ${high}" width="${width}" height="${high}" class="chart" font-family="system-ui, sans-serif" font-size="12">
<style>${escaped(colours()).replace(/&#34;/g, '"')}</style><rect class="background" width="${width}" height="${high}"/>
<text x="16" y="22" font-size="15" font-weight="600">${escaped(title(figure))}</text>
<g transform="translate(0 32)">${body}</g>${below.join('')}</svg>`,
    };
  };
  const pixels = figure => new Promise((done, failed) => {
    const { text, width, height } = picture(figure);
    const image = new Image();
    image.onload = () => {
      const canvas = make('canvas', { width: width * 2, height: height * 2 });
      const pen = canvas.getContext('2d');
      pen.scale(2, 2);
      pen.drawImage(image, 0, 0, width, height);
      canvas.toBlob(blob => blob ? done(blob) : failed(new Error('no picture')), 'image/png');
    };
    image.onerror = () => failed(new Error('no picture'));
    image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(text);
  });
  const cell = text => `"${(/^[=+\-@]/.test(text) ? "'" : '') + text.replace(/"/g, '""')}"`;
  const table = figure => {
    if (figure.dataset.csv) return figure.dataset.csv;
    const bars = all('li[data-v]:not(.off)', figure);
    const unit = figure.querySelector('.group').dataset.unit;
    const four = bars.some(measured);
    const head = ['group', 'name', ...(four ? MEASURES : ['value']).map(name => `${name} ${unit}`), `low ${unit}`, `high ${unit}`, 'runs'];
    const line = row => {
      const ends = numbers(row.dataset.ci);
      const values = numbers(row.dataset.v);
      return [cell(row.closest('.group').dataset.name), cell(row.children[0].textContent), ...values, ends[0] ?? '', ends[1] ?? '', row.dataset.r || ''];
    };
    return [head, ...bars.map(line)].map(cells => cells.join(',')).join('\n');
  };
  const save = (blob, name) => {
    const link = make('a', { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const enlarge = figure => {
    const copy = figure.cloneNode(true);
    copy.querySelector('.tools')?.remove();
    const close = make('button', { type: 'button', class: 'close' }, 'Close');
    const dialog = make('dialog', { 'aria-label': title(figure) }, close, copy);
    close.addEventListener('click', () => dialog.close());
    dialog.addEventListener('click', event => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener('close', () => { hide(); document.body.append(tip); dialog.remove(); });
    document.body.append(dialog);
    all('svg[data-x]', copy).forEach(reachable);
    dialog.showModal();
  };
  const text = (body, kind) => new Blob([body], { type: kind + ';charset=utf-8' });
  const takes = [
    ['Enlarge', 'Show it larger', figure => enlarge(figure)],
    ['Copy', 'Copy it as a picture', async (figure, button) => {
      const blob = await pixels(figure);
      try {
        await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })]);
        button.textContent = 'Copied';
        setTimeout(() => { button.textContent = 'Copy'; }, 1500);
      } catch { save(blob, file(figure, 'png')); }
    }],
    ['PNG', 'Save it as a picture in pixels', async figure => save(await pixels(figure), file(figure, 'png'))],
    ['SVG', 'Save it as a picture that scales', figure => save(text(picture(figure).text, 'image/svg+xml'), file(figure, 'svg'))],
    ['CSV', 'Save its numbers', figure => save(text(table(figure) + '\n', 'text/csv'), file(figure, 'csv'))],
  ];
  all('.drawn').forEach(figure => {
    const buttons = takes.map(([name, what, take]) => {
      const button = make('button', { type: 'button', title: what, 'aria-label': `${what}: ${title(figure)}` }, name);
      button.addEventListener('click', () => take(figure, button));
      return button;
    });
    figure.querySelector('figcaption').append(make('span', { class: 'tools' }, ...buttons));
  });

  // What is printed is unfolded meanwhile.
  const unfolded = () => all('details.print:not([open])');
  let opened = [];
  addEventListener('beforeprint', () => { opened = unfolded(); opened.forEach(part => { part.open = true; }); }, { signal: done });
  addEventListener('afterprint', () => opened.forEach(part => { part.open = false; }), { signal: done });
};
