const LEFT = 92; // pixels for what the rows are called
const FOOT = 22; // and for the axis

const KEYS = "Arrow keys choose the next or previous, plus and minus stretch, 0 shows all.";

/**
 * A drawing whose horizontal axis can be stretched.
 *
 * items: {from, to, top, height, text, about, target, role, marks}; rows: {text, top}.
 * axis: {end, text(value)}; extra(x, width): elements drawn over the items.
 */
class Chart {
  constructor(section, { items, rows, height, axis, extra, label, legend = [] }) {
    Object.assign(this, { items, rows, height, axis, extra });
    this.from = 0;
    this.to = axis.end;
    this.box = make("div", {
      class: "chart", tabindex: 0, role: "group",
      "aria-label": `${label}. ${KEYS}`,
    });
    const tools = buttons(
      ["−", "less detail", () => this.zoom(2)],
      ["+", "more detail", () => this.zoom(0.5)],
      ["whole", "show all", () => this.show(0, axis.end)],
    );
    const hint = make("span", { class: "buttons" }, "Ctrl + wheel stretches, dragging moves");
    section.append(bar(legend, hint, tools), this.box);
    this.listen();
    tell(this.box, target => this.items[target.closest?.("[data-n]")?.dataset.n]?.about);
    new ResizeObserver(() => this.render()).observe(this.box);
  }

  get inner() {
    return Math.max(this.box.clientWidth - LEFT - 8, 60);
  }

  show(from, to) {
    const length = Math.min(Math.max(to - from, this.axis.end / 1e5), this.axis.end);
    this.from = Math.min(Math.max(from, 0), this.axis.end - length);
    this.to = this.from + length;
    this.render();
  }

  zoom(factor, place = (this.from + this.to) / 2) {
    this.show(place - (place - this.from) * factor, place + (this.to - place) * factor);
  }

  listen() {
    const place = event => {
      const x = event.clientX - this.box.getBoundingClientRect().left - LEFT;
      return this.from + (x / this.inner) * (this.to - this.from);
    };
    this.box.addEventListener("wheel", event => {
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(event.deltaY / 300), place(event));
      else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) this.pan(sideways);
      else return;
      event.preventDefault();
    }, { passive: false });
    this.box.addEventListener("pointerdown", event => {
      if (event.button === 0) this.drag = { x: event.clientX, moved: false };
    });
    addEventListener("pointermove", event => {
      if (!this.drag) return;
      const by = event.clientX - this.drag.x;
      if (!this.drag.moved && Math.abs(by) < 4) return;
      this.drag = { x: event.clientX, moved: true };
      this.box.classList.add("drag");
      this.pan(-by);
    });
    addEventListener("pointerup", event => {
      const moved = this.drag?.moved;
      this.drag = null;
      this.box.classList.remove("drag");
      const item = this.box.contains(event.target) && event.target.closest?.("[data-n]");
      if (item && !moved) go(this.items[item.dataset.n].target);
    });
    this.box.addEventListener("keydown", event => this.key(event));
  }

  pan(pixels) {
    const by = (pixels / this.inner) * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step && event.shiftKey) this.pan(step * 60);
    else if (step) this.next(step);
    else if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "0") this.show(0, this.axis.end);
    else return;
    event.preventDefault();
  }

  /** Choose the item after or before the one chosen. */
  next(step) {
    const links = this.items.filter(item => item.target);
    const now = links.findIndex(item => item.target === location.hash);
    const item = links[now < 0 ? 0 : Math.min(Math.max(now + step, 0), links.length - 1)];
    if (!item) return;
    go(item.target);
    if (item.from < this.from || item.to > this.to) {
      const half = (this.to - this.from) / 2;
      this.show((item.from + item.to) / 2 - half, (item.from + item.to) / 2 + half);
    }
  }

  render() {
    const width = this.inner;
    const x = value => ((value - this.from) / (this.to - this.from)) * width;
    const plot = draw("svg", { x: LEFT, width, height: this.height });
    for (const value of this.ticks(width)) {
      const line = { class: "grid", x1: x(value), x2: x(value), y1: 0, y2: this.height };
      plot.append(draw("line", line));
    }
    this.items.forEach((item, n) => {
      if (item.to < this.from || item.from > this.to) return;
      const left = Math.max(x(item.from), -4), right = Math.min(x(item.to), width + 4);
      plot.append(this.box_of(item, n, left, Math.max(right - left, 1)));
    });
    if (this.extra) plot.append(...this.extra(x, width));
    const drawing = draw("svg", { width: width + LEFT + 8, height: this.height + FOOT }, plot);
    const word = (x, y, text, more) => draw("text", { class: "tick", x, y, ...more }, text);
    for (const { top, text } of this.rows)
      drawing.append(word(LEFT - 8, top, text, { "text-anchor": "end" }));
    for (const value of this.ticks(width)) {
      if (x(value) > width - 36) continue;
      drawing.append(word(LEFT + x(value) + 3, this.height + 15, this.axis.text(value)));
    }
    this.box.replaceChildren(drawing);
    this.mark();
  }

  box_of(item, n, left, width) {
    const kind = `item ${item.role}${width > 4 ? " wide" : ""}`;
    const shape = { class: kind, "data-n": n, x: left, y: item.top, width, height: item.height };
    const parts = [draw("rect", { width: "100%", height: "100%", rx: Math.min(2.5, width / 4) })];
    if (width > 26 && item.height > 12)
      parts.push(draw("text", { x: 5, y: item.height / 2 + 4 }, item.text));
    return draw("svg", shape, parts);
  }

  /** Values of the axis, round and some 100 pixels apart. */
  ticks(width) {
    const rough = ((this.to - this.from) / width) * 110;
    const ten = 10 ** Math.floor(Math.log10(rough));
    const exact = [1, 2, 5, 10].map(n => n * ten).find(n => n >= rough);
    const step = this.axis.count ? Math.max(1, Math.round(exact)) : exact;
    const found = [];
    for (let v = Math.ceil(this.from / step) * step; v <= this.to; v += step) found.push(v);
    return found;
  }

  /** Show what is chosen. */
  mark() {
    const now = chosenNow();
    for (const element of this.box.querySelectorAll("[data-n]"))
      element.classList.toggle("now", Boolean(now && this.items[element.dataset.n].marks(now)));
  }
}

const isInstruction = i => now => now.kind === "i" && now.number === i;

function timelineChart() {
  const rows = facts.threads.map((text, n) => ({ text, top: 28 * n + 21 }));
  const items = facts.spans.map(([i, thread, start, length]) => ({
    from: start, to: start + length, top: 28 * thread + 5, height: 23,
    text: operatorOf(i).type, role: operatorOf(i).role,
    target: toInstruction(i), marks: isInstruction(i),
    about: `${i} ${operatorOf(i).type}\n${ofRun(length)}\n${operatorOf(i).line}`,
  }));
  return new Chart(at("timeline"), {
    items, rows, height: 28 * rows.length + 6, label: "The timeline", legend: roleLegend(),
    axis: { end: Math.max(whole, 1), text: duration },
  });
}

const ofRun = length => `${duration(length)}, ${share(length)} of the run`;
const share = length => `${((100 * length) / Math.max(whole, 1)).toFixed(1)} %`;

function streamChart() {
  const { lanes, tasks, waits } = facts.streams;
  const rows = lanes.map((text, n) => ({ text, top: 28 * n + 21 }));
  const items = tasks.map(([lane, i, text], n) => ({
    from: n, to: n + 1, top: 28 * lane + 5, height: 23, about: text,
    text: i === null ? text : operatorOf(i).type, role: i === null ? "copy" : operatorOf(i).role,
    target: i === null ? null : toInstruction(i), marks: isInstruction(i),
  }));
  const extra = x => waits.map(([before, after, , names]) => {
    const top = 28 * tasks[before][0] + 16, bottom = 28 * tasks[after][0] + 16;
    const start = x(before + 1), end = x(after), bend = Math.max(10, Math.abs(end - start) / 2);
    const d = `M${start} ${top}C${start + bend} ${top} ${end - bend} ${bottom} ${end} ${bottom}`;
    return draw("path", { class: "wait", d }, draw("title", {}, names));
  });
  return new Chart(at("streams"), {
    items, rows, extra, height: 28 * rows.length + 6, legend: roleLegend(),
    label: `The streams on ${facts.streams.place}`,
    axis: { end: Math.max(tasks.length, 1), count: true, text: n => `task ${n}` },
  });
}

const TALL = 280;

/** Every buffer as a box, and the line of what all of them take. */
function memoryChart() {
  const [lows, packed] = stacked();
  const top = Math.max(packed, during[peak]);
  const scale = TALL / Math.max(top, 1);
  const steps = instructions.length;
  const items = buffers.map((buffer, n) => {
    const height = Math.max(buffer.size * scale, 0.8);
    const maker = operatorOf(buffer.born);
    const names = several(buffer.variables, nameOf);
    return {
      from: buffer.born, to: (buffer.freed ?? steps) + (buffer.freed === null ? 0 : 1),
      top: TALL - lows[n] * scale - height, height,
      text: nameOf(buffer.variables[0]), role: `${maker.role} pale`,
      target: toVariable(buffer.variables[0]),
      about: `${names}\n${bytes(buffer.size)}\n${lifeText(buffer)}`,
      marks: now => (now.kind === "v" ? buffer.variables.includes(now.number) : false),
    };
  });
  const step = 2 ** Math.ceil(Math.log2(Math.max(top, 4) / 5));
  const rows = [];
  for (let size = 0; size <= top; size += step)
    rows.push({ text: bytes(size), top: Math.max(TALL - size * scale + 4, 10) });
  const extra = x => {
    const line = during.map((size, i) => {
      const y = TALL - size * scale;
      return `${x(i)},${y} ${x(i + 1)},${y}`;
    });
    const now = chosenNow();
    const drawn = [draw("polyline", { class: "live", points: line.join(" ") })];
    const place = x(now?.number + 0.5);
    if (now?.kind === "i")
      drawn.push(draw("line", { class: "at", x1: place, x2: place, y1: 0, y2: TALL }));
    return drawn;
  };
  return new Chart(at("memory"), {
    items, rows, extra, height: TALL, label: "Memory over the instructions", legend: roleLegend(),
    axis: { end: Math.max(steps, 1), count: true, text: i => `#${i}` },
  });
}

function lifeText({ born, freed }) {
  const word = i => `${i} ${operatorOf(i).type}`;
  const gone = freed === null ? "lives on after the run" : `goes after ${word(freed)}`;
  return `taken by ${word(born)}, ${gone}`;
}

const end = buffer => buffer.freed ?? instructions.length;

/** How high each buffer begins, so that those alive together do not meet, and the top of all. */
function stacked() {
  const life = n => end(buffers[n]) - buffers[n].born;
  const size = n => buffers[n].size;
  const order = buffers.map((_, n) => n);
  const lasting = [...order].sort((a, b) => life(b) - life(a) || size(b) - size(a) || a - b);
  const large = [...order].sort((a, b) => size(b) - size(a) || life(b) - life(a) || a - b);
  const [one, other] = [placed(lasting), placed(large)];
  return one[1] <= 1.1 * other[1] ? one : other; // the first shows better what stays
}

/** The same when they are put down in this order, each as low as it can be. */
function placed(order) {
  const lows = buffers.map(() => 0), done = [];
  let top = 0;
  for (const n of order) {
    const { born, size } = buffers[n];
    let low = 0;
    for (const m of done) { // in the order of their places
      if (buffers[m].born > end(buffers[n]) || end(buffers[m]) < born) continue;
      if (low + size <= lows[m]) break;
      low = Math.max(low, lows[m] + buffers[m].size);
    }
    lows[n] = low;
    top = Math.max(top, low + size);
    const after = done.findIndex(m => lows[m] > low);
    done.splice(after < 0 ? done.length : after, 0, n);
  }
  return [lows, top];
}
