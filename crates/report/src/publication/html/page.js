'use strict';
(() => {
  const $ = id => document.getElementById(id);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const numbers = text => (text || '').split(' ').filter(Boolean).map(Number);
  const tip = $('tip');
  const SVG = 'http://www.w3.org/2000/svg';
  const names = ['average', 'worst', 'best', 'median'];

  // A figure with as many digits as the page's own.
  const speed = v => !isFinite(v) ? '–' : Math.abs(v) >= 1e9 ? v.toExponential(3)
    : v.toFixed(Math.abs(v) >= 99.95 ? 1 : Math.abs(v) >= 9.995 ? 2 : 3);

  // The end of a scale: a round number beyond all that is drawn.
  const scaleEnd = most => {
    if (!(most > 0)) return 1;
    const decade = 10 ** Math.floor(Math.log10(most));
    return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map(n => n * decade).find(end => end >= most) || most;
  };

  const show = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(6, Math.min(x + 14, innerWidth - box.width - 6)) + 'px';
    tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(6, y - box.height - 12) : y + 18) + 'px';
  };
  const hide = () => { tip.hidden = true; };
  addEventListener('scroll', hide, { passive: true });
  addEventListener('keydown', event => { if (event.key === 'Escape') hide(); });

  // ---- Bars ----
  const rows = all('.bars li');
  const words = row => {
    const group = row.closest('.group');
    const unit = group.dataset.unit;
    const lines = [row.children[0].textContent, group.dataset.name];
    if (row.dataset.v) {
      numbers(row.dataset.v).forEach((v, i) => lines.push(`${names[i]} ${speed(v)} ${unit}`));
      const ends = numbers(row.dataset.ci);
      if (ends.length) lines.push(`95 % interval of the average ${speed(ends[0])} … ${speed(ends[1])} ${unit}`);
      const runs = numbers(row.dataset.r);
      lines.push(`${runs.length} run${runs.length === 1 ? '' : 's'}: ${runs.map(speed).join('  ')} ${unit}`);
    } else {
      lines.push(`${row.querySelector('b').textContent} ${unit}`);
    }
    return lines.join('\n');
  };
  const light = of => rows.forEach(row => row.classList.toggle('lit', of !== null && row.dataset.of === of && !!row.dataset.v));
  rows.forEach(row => {
    const at = event => {
      light(row.dataset.v ? row.dataset.of : null);
      const box = row.getBoundingClientRect();
      show(words(row), event.clientX ?? box.left + box.width / 3, event.clientY ?? box.bottom - 14);
    };
    row.addEventListener('pointermove', at);
    row.addEventListener('click', at);
    row.addEventListener('focus', at);
    ['pointerleave', 'blur'].forEach(name => row.addEventListener(name, () => { hide(); light(null); }));
  });

  const bars = $('bars');
  const off = new Set();
  const choice = { measure: 0, order: 'given', filter: '', same: false };

  const value = (row, measure) => numbers(row.dataset.v)[measure === 4 ? 0 : measure];

  const draw = (row, measure, end) => {
    const svg = row.querySelector('svg');
    const along = v => Math.round(1000 * Math.min(Math.max(v / end, 0), 1));
    const runs = numbers(row.dataset.r);
    const ends = numbers(row.dataset.ci);
    const shown = value(row, measure);
    const each = measure === 4 && runs.length > 0;
    const high = Math.max(14, runs.length * 5);
    svg.setAttribute('viewBox', `0 0 1000 ${each ? high : 14}`);
    svg.style.height = each ? `${Math.max(15, runs.length * 5)}px` : '';
    const parts = [];
    const add = (name, attributes) => {
      const element = document.createElementNS(SVG, name);
      Object.entries(attributes).forEach(([key, v]) => element.setAttribute(key, v));
      parts.push(element);
    };
    if (each) {
      runs.forEach((run, i) => add('rect', { width: along(run), y: i * high / runs.length, height: high / runs.length * .82 }));
    } else {
      add('rect', { width: along(shown), height: 10 });
      if (measure === 0 && ends.length) {
        const [low, top] = ends.map(along);
        add('path', { class: 'whisker', d: `M${low} 3v4M${low} 5H${top}M${top} 3v4` });
      }
      add('path', { class: 'runs', d: runs.map(run => `M${along(run)} 11v3`).join('') });
    }
    svg.replaceChildren(...parts);
    const text = row.querySelector('b');
    const more = measure === 0 && ends.length ? `${speed(ends[0])} … ${speed(ends[1])}`
      : each ? `${speed(Math.min(...runs))} … ${speed(Math.max(...runs))}` : '';
    text.textContent = speed(shown);
    if (more) {
      const small = document.createElement('small');
      small.textContent = ' ' + more;
      text.append(small);
    }
  };

  const redraw = () => {
    const wanted = choice.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const groups = all('.group', bars);
    const drawn = groups.map(group => {
      const name = group.dataset.name.toLowerCase();
      group.classList.toggle('off', !wanted.every(word => name.includes(word)));
      const list = all('li', group);
      list.forEach(row => row.classList.toggle('off', off.has(row.dataset.of)));
      const shown = list.filter(row => !off.has(row.dataset.of) && row.dataset.v);
      const most = Math.max(0, ...shown.flatMap(row => [value(row, choice.measure), ...numbers(row.dataset.r), ...numbers(row.dataset.ci)]));
      return { group, list, shown, most };
    });
    const together = Math.max(0, ...drawn.filter(d => !d.group.classList.contains('off')).map(d => d.most));
    drawn.forEach(({ group, list, shown, most }) => {
      const end = scaleEnd(choice.same ? together : most);
      group.querySelector('figcaption span').textContent = `0 to ${+end.toPrecision(4)} ${group.dataset.unit}`;
      shown.forEach(row => draw(row, choice.measure, end));
      const by = {
        given: (a, b) => a.dataset.of - b.dataset.of,
        name: (a, b) => a.children[0].textContent.localeCompare(b.children[0].textContent),
        fastest: (a, b) => (value(b, choice.measure) ?? -1) - (value(a, choice.measure) ?? -1),
      }[choice.order];
      group.querySelector('ol').append(...list.sort(by));
    });
  };

  if (bars) {
    $('choices').hidden = false;
    const on = (id, name, read) => $(id).addEventListener('input', event => { choice[name] = read(event.target); redraw(); });
    on('measure', 'measure', input => Number(input.value));
    on('order', 'order', input => input.value);
    on('filter', 'filter', input => input.value);
    on('same', 'same', input => input.checked);
    $('choices').addEventListener('submit', event => event.preventDefault());
    const legend = $('legend');
    if (legend) {
      legend.hidden = false;
      all('button', legend).forEach(button => {
        button.addEventListener('click', () => {
          const of = button.dataset.of;
          off.has(of) ? off.delete(of) : off.add(of);
          button.setAttribute('aria-pressed', String(!off.has(of)));
          redraw();
        });
        button.addEventListener('pointerenter', () => light(button.dataset.of));
        button.addEventListener('pointerleave', () => light(null));
      });
    }
  }

  // ---- Two cards beside each other ----
  const two = $('two');
  if (two) {
    two.hidden = false;
    const tests = JSON.parse($('pairs').textContent).map(({ t, p }) => ({
      t, pairs: p.split(';').filter(Boolean).map(line => line.split(',')),
    }));
    const [one, other] = [$('one'), $('other')];
    other.value = '1';
    const percent = text => {
      if (text === '') return '';
      const more = (Number(text) - 1) * 100;
      return `${more >= 0 ? '+' : ''}${more.toFixed(1)} %`;
    };
    // From a factor of 2 on, either way, with the factor and three digits of it.
    const against = text => {
      const factor = Number(text);
      const times = factor < 1 ? 1 / factor : factor;
      if (text === '' || !(times >= 2)) return percent(text);
      return `${percent(text)} (${factor < 1 ? '÷' : '×'}${times.toFixed(times >= 99.95 ? 0 : times >= 9.995 ? 1 : 2)})`;
    };
    const fill = () => {
      const [a, b] = [one.value, other.value];
      const cells = ({ t, pairs }) => {
        const found = pairs.find(p => (p[0] === a && p[1] === b) || (p[0] === b && p[1] === a));
        if (!found) return [t, '', '', '', a === b ? 'the same card' : 'not both measured'];
        let [first, , factor, low, high, chance, verdict, more, besides] = found;
        if (first !== a) {
          // The other way round: a factor of f is one of 1 / f.
          const turned = text => text === '' ? '' : String(1 / Number(text));
          [factor, low, high] = [turned(factor), turned(high), turned(low)];
          verdict = { 1: '2', 2: '1' }[verdict] || verdict;
        }
        const name = number => one.options[number].textContent;
        const said = { 1: `${name(a)} is faster`, 2: `${name(b)} is faster`, 3: 'alike', 4: 'cannot be told apart' }[verdict];
        const rest = (more ? `; about ${more} further runs of each may settle it` : '')
          + (besides ? `; not by the card alone: ${besides}` : '');
        return [t, against(factor), low === '' ? '' : `${percent(low)} … ${percent(high)}`, chance === '0.000' ? 'below 0.001' : chance, said + rest];
      };
      two.querySelector('tbody').replaceChildren(...tests.map(test => {
        const row = document.createElement('tr');
        cells(test).forEach((text, i) => {
          const cell = document.createElement(i ? 'td' : 'th');
          if (i === 4) cell.className = 'words';
          cell.textContent = text;
          row.append(cell);
        });
        return row;
      }));
    };
    [one, other].forEach(select => select.addEventListener('input', fill));
    fill();
  }

  // ---- Curves: the values under the pointer, read back from the picture ----
  const axis = text => {
    if (!text) return null;
    const [unit, scale, low, high, from, to] = text.split('|');
    const back = { linear: v => v, log2: v => 2 ** v, log10: v => 10 ** v }[scale];
    return { unit, read: place => back(Number(low) + (place - from) / (to - from) * (high - low)) };
  };
  const size = bytes => {
    const fit = [['TiB', 40], ['GiB', 30], ['MiB', 20], ['KiB', 10]].find(([, power]) => bytes >= 2 ** power * .999);
    return fit ? `${+(bytes / 2 ** fit[1]).toFixed(1)} ${fit[0]}` : `${Math.round(bytes)} B`;
  };
  const said = (v, unit) => unit === 'bytes' ? size(v) : `${+v.toPrecision(4)} ${unit}`;
  all('svg[data-x]').forEach(svg => {
    const [x, y, z] = ['x', 'y', 'z'].map(name => axis(svg.dataset[name]));
    const curves = all('path[data-name]', svg).map(path => ({
      name: path.dataset.name,
      axis: z && path.dataset.unit === z.unit && path.dataset.unit !== y.unit ? z : y,
      points: path.getAttribute('d').slice(1).split('L').map(point => point.split(' ').map(Number)),
    }));
    const places = [...new Set(curves.flatMap(curve => curve.points.map(([at]) => at)))].sort((a, b) => a - b);
    if (!places.length) return;
    svg.setAttribute('tabindex', '0');
    const cursor = document.createElementNS(SVG, 'path');
    cursor.setAttribute('class', 'cursor');
    const [top, bottom] = [svg.dataset.y.split('|')[5], svg.dataset.y.split('|')[4]];
    let here = -1;
    const nearest = (list, at) => list.reduce((best, p) => Math.abs(p - at) < Math.abs(best - at) ? p : best);
    const move = index => {
      here = Math.max(0, Math.min(places.length - 1, index));
      const at = places[here];
      cursor.setAttribute('d', `M${at} ${top}V${bottom}`);
      curves[0] && all('path[data-name]', svg)[0].parentNode.append(cursor);
      const lines = [said(x.read(at), x.unit)];
      curves.forEach(curve => {
        const close = nearest(curve.points.map(p => p[0]), at);
        const point = curve.points.find(p => p[0] === close);
        if (point && Math.abs(close - at) < 25) lines.push(`${curve.name}: ${said(curve.axis.read(point[1]), curve.axis.unit)}`);
      });
      const box = svg.getBoundingClientRect();
      show(lines.join('\n'), box.left + at / svg.viewBox.baseVal.width * box.width, box.top + box.height / 3);
    };
    const leave = () => { hide(); cursor.remove(); here = -1; };
    const point = event => {
      const box = svg.getBoundingClientRect();
      move(places.indexOf(nearest(places, (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width)));
    };
    svg.addEventListener('pointermove', point);
    svg.addEventListener('click', point);
    svg.addEventListener('pointerleave', leave);
    svg.addEventListener('focus', () => { if (here < 0) move(0); });
    svg.addEventListener('blur', leave);
    svg.addEventListener('keydown', event => {
      const step = { ArrowRight: 1, ArrowLeft: -1, Home: -1e9, End: 1e9 }[event.key];
      if (step) { event.preventDefault(); move(here + step); }
    });
  });
})();
