const KINDS = {
  RAW: "reads what was written", WAR: "writes what was read", WAW: "writes what was written",
  effect: "meets outside", order: "by the order asked for",
};

/** The dependency graph, in the places that were found when the page was written. */
class Graph {
  constructor(section) {
    this.scale = 1;
    [this.width, this.height] = [facts.size[0] + 24, facts.size[1] + 12];
    this.box = make("div", {
      class: "drawing", tabindex: 0, role: "group",
      "aria-label": "The graph. Arrow keys choose what comes before and after, and what is beside.",
    });
    this.drawing = draw("svg", { viewBox: `-12 -6 ${this.width} ${this.height}` }, this.heads());
    this.around = instructions.map(() => ({ before: [], after: [] }));
    facts.edges.forEach(({ before, after }, n) => {
      this.around[before].after.push(n);
      this.around[after].before.push(n);
    });
    this.groups = facts.edges.map((edge, n) => this.edge(edge, n));
    this.nodes = instructions.map((_, i) => this.node(i));
    this.drawing.append(...this.groups, ...this.nodes);
    this.box.append(this.drawing);
    section.append(this.bar(), this.box);
    this.listen();
    this.fit(Math.min(1, Math.max(0.5, this.box.clientWidth / this.width)));
  }

  heads() {
    return draw("defs", {}, Object.keys(KINDS).map(kind => {
      const head = draw("path", { d: "M0 0L7 3.5L0 7z" });
      head.style.fill = `var(--${kind})`;
      return draw("marker", {
        id: "head-" + kind, viewBox: "0 0 7 7", refX: 6.5, refY: 3.5, orient: "auto",
        markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse",
      }, head);
    }));
  }

  node(i) {
    const [x, y, width] = instructions[i].box;
    const { type, role } = operatorOf(i);
    return draw("g", { class: `node ${role}`, "data-i": i, transform: `translate(${x} ${y})` },
      draw("rect", { x: -width / 2, y: -13, width, height: 26, rx: 6 }),
      draw("text", {}, draw("tspan", {}, `${i} `), type));
  }

  edge({ kinds, points, why }, n) {
    const d = pathOf(points);
    const lines = kinds.map((kind, k) => draw("path", {
      class: `edge ${kind}`, d, "marker-end": `url(#head-${kind})`,
      transform: k ? `translate(${3 * k} 0)` : null,
    }));
    return draw("g", { "data-e": n }, draw("path", { class: "touch", d }), lines);
  }

  bar() {
    const kinds = Object.keys(KINDS).filter(kind => facts.edges.some(e => e.kinds.includes(kind)));
    const legend = kinds.map(kind => {
      const check = make("input", { type: "checkbox" });
      check.checked = true;
      check.addEventListener("change", () => {
        this.drawing.classList.toggle("off-" + kind, !check.checked);
      });
      const count = facts.edges.filter(e => e.kinds.includes(kind)).length;
      const line = draw("line", { class: "edge " + kind, x1: 0, x2: 26, y1: 4, y2: 4 });
      const sample = draw("svg", { width: 26, height: 8 }, line);
      return make("label", {}, check, sample, `${kind}: ${KINDS[kind]} (${count})`);
    });
    const room = () => [this.box.clientWidth / this.width, (innerHeight * 0.76) / this.height];
    const fitted = () => this.fit(Math.min(...room()));
    return bar([...legend, ...roleLegend()], buttons(
      ["−", "smaller", () => this.fit(this.scale / 1.4)],
      ["+", "larger", () => this.fit(this.scale * 1.4)],
      ["1:1", "as large as text", () => this.fit(1)],
      ["whole", "show all", fitted],
    ));
  }

  fit(scale) {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.box;
    const grown = Math.min(Math.max(scale, 0.02), 4) / this.scale;
    this.scale *= grown;
    this.drawing.setAttribute("width", this.width * this.scale);
    this.drawing.setAttribute("height", this.height * this.scale);
    this.box.scrollTo({
      left: (scrollLeft + clientWidth / 2) * grown - clientWidth / 2,
      top: (scrollTop + clientHeight / 2) * grown - clientHeight / 2,
      behavior: "instant",
    });
  }

  listen() {
    const near = (target, on) => {
      const edge = target.closest?.("[data-e]"), node = target.closest?.("[data-i]");
      const edges = edge ? [edge] : node ? this.edgesOf(Number(node.dataset.i)) : [];
      for (const line of linesOf(edges)) line.classList.toggle("near", on);
    };
    this.drawing.addEventListener("pointerover", event => near(event.target, true));
    this.drawing.addEventListener("pointerout", event => near(event.target, false));
    this.drawing.addEventListener("click", event => {
      const node = event.target.closest("[data-i]"), edge = event.target.closest("[data-e]");
      if (node) go(toInstruction(Number(node.dataset.i)));
      else if (edge) go(toInstruction(facts.edges[edge.dataset.e].after));
    });
    this.box.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.fit(this.scale * Math.exp(-event.deltaY / 300));
    }, { passive: false });
    this.box.addEventListener("keydown", event => this.key(event));
    tell(this.drawing, target => this.about(target));
  }

  edgesOf(i) {
    const { before, after } = this.around[i];
    return [...before, ...after].map(n => this.groups[n]);
  }

  about(target) {
    const node = target.closest?.("[data-i]"), edge = target.closest?.("[data-e]");
    if (node) {
      const i = Number(node.dataset.i);
      return `${instructionText(i)}\n${duration(took[i])}\n${operatorOf(i).line}`;
    }
    if (!edge) return "";
    const { before, after, why } = facts.edges[edge.dataset.e];
    const word = i => `${i} ${operatorOf(i).type}`;
    return `${word(after)} waits for ${word(before)}\n${why}`;
  }

  key(event) {
    const now = chosenNow();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const grown = { "+": 1.4, "=": 1.4, "-": 1 / 1.4 }[event.key];
    if (grown) this.fit(this.scale * grown);
    else if (!event.key.startsWith("Arrow") || !instructions.length) return;
    else if (now?.kind !== "i") go(toInstruction(0));
    else go(toInstruction(this.towards(event.key, now.number)));
    event.preventDefault();
  }

  towards(key, i) {
    const { before, after } = this.around[i];
    if (key === "ArrowUp") return before.length ? facts.edges[before[0]].before : i;
    if (key === "ArrowDown") return after.length ? facts.edges[after[0]].after : i;
    const [x, y] = instructions[i].box;
    const side = key === "ArrowLeft" ? -1 : 1;
    const row = instructions.map((_, j) => j).filter(j => {
      const [u, v] = instructions[j].box;
      return v === y && (u - x) * side > 0;
    });
    return row.sort((j, k) => side * (instructions[j].box[0] - instructions[k].box[0]))[0] ?? i;
  }

  /** Show what is chosen: an instruction with its edges, or who uses a variable and how. */
  mark() {
    const now = chosenNow();
    const variable = now?.kind === "v" ? variables[now.number] : null;
    this.drawing.classList.toggle("some", Boolean(now));
    const readers = variable ? [...variable.readers, ...variable.shapes] : [];
    for (const line of this.drawing.querySelectorAll(".edge.on")) line.classList.remove("on");
    this.nodes.forEach((node, i) => {
      node.classList.toggle("now", now?.kind === "i" && now.number === i);
      node.classList.toggle("writes", Boolean(variable?.writers.includes(i)));
      node.classList.toggle("reads", Boolean(readers.includes(i)));
      node.classList.toggle("frees", Boolean(variable?.frees.includes(i)));
    });
    const users = variable ? [...variable.writers, ...readers, ...variable.frees] : [];
    const shown = now?.kind === "i" ? [now.number] : users;
    const joins = ({ before, after }) => users.includes(before) && users.includes(after);
    const edges = variable ? this.groups.filter((_, n) => joins(facts.edges[n])) : [];
    if (now?.kind === "i") edges.push(...this.edgesOf(now.number));
    for (const line of linesOf(edges)) line.classList.add("on");
    if (shown.length) this.reveal(shown[0]);
  }

  reveal(i) {
    const [x, y] = instructions[i].box.map((value, n) => (value + [12, 6][n]) * this.scale);
    const { clientWidth, clientHeight, scrollLeft, scrollTop } = this.box;
    const within = (place, from, size) => place > from && place < from + size;
    if (!within(x, scrollLeft, clientWidth) || !within(y, scrollTop, clientHeight))
      this.box.scrollTo({ left: x - clientWidth / 2, top: y - clientHeight / 2 });
  }
}

/** The lines of some edges: one for each kind. */
const linesOf = edges => edges.flatMap(edge => [...edge.querySelectorAll(".edge")]);

/** A line through points: square corners are rounded, all else bends softly. */
function pathOf(points) {
  const square = points.length === 6;
  const [first, ...rest] = points;
  let d = `M${first[0]} ${first[1]}`;
  if (!square) {
    let [x, y] = first;
    for (const [u, v] of rest) {
      const half = (y + v) / 2;
      d += `C${x} ${half} ${u} ${half} ${u} ${v}`;
      [x, y] = [u, v];
    }
    return d;
  }
  for (let n = 1; n < points.length - 1; n++) {
    const [x, y] = points[n];
    const [a, b] = near(points[n], points[n - 1]), [u, v] = near(points[n], points[n + 1]);
    d += `L${a} ${b}Q${x} ${y} ${u} ${v}`;
  }
  const [x, y] = points[points.length - 1];
  return d + `L${x} ${y}`;
}

/** The place on the way from one point to another where a corner begins. */
function near([x, y], [u, v]) {
  const length = Math.hypot(u - x, v - y) || 1;
  const part = Math.min(7, length / 2) / length;
  return [x + (u - x) * part, y + (v - y) * part];
}
