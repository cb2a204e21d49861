const MOST = 8; // rows of a list of the largest

const HINT = "Click an instruction or a variable, anywhere. "
  + "The choice is in the address of the page, so a link to it can be shared.";

/** What is chosen, in words. */
function inspect(now) {
  const partsOf = { i: instructionParts, v: variableParts }[now?.kind] ?? overview;
  at("chosen").replaceChildren(...partsOf(now?.number));
}

function closing() {
  const title = "choose nothing";
  const button = make("button", { type: "button", "aria-label": title, title }, "×");
  button.addEventListener("click", unchosen);
  return button;
}

/** Choose nothing, and stay where the page is. */
function unchosen() {
  history.replaceState(null, "", location.href.split("#")[0]);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function list(rows) {
  return make("div", { class: "list" }, rows);
}

function row(link, text) {
  const inner = [...link.childNodes];
  link.replaceChildren(make("span", { class: "mono" }, inner), make("span", {}, text));
  return link;
}

function part(name, id, rows) {
  return rows.length ? [make("h3", {}, name), filled(list(rows), { id }, [])] : [];
}

function overview() {
  const slow = instructions.map((_, i) => i).sort((a, b) => took[b] - took[a]).slice(0, MOST);
  const alive = buffers
    .filter(({ born, freed }) => born <= peak && peak <= (freed ?? Infinity))
    .sort((a, b) => b.size - a.size).slice(0, MOST);
  const where = instructions.length ? `${peak} ${operatorOf(peak).type}` : "";
  const types = byType().slice(0, MOST).map(([type, count, time]) =>
    row(make("a", {}, `${count} × ${type}`), `${duration(time)}, ${share(time)}`));
  return [
    make("h2", {}, "Nothing is chosen"),
    make("p", { class: "kind" }, HINT),
    ...part("slowest instructions", "slowest",
      slow.map(i => row(instructionLink(i), duration(took[i])))),
    ...part(`largest buffers at the peak, ${where}`, "largest",
      alive.map(b => row(variableLink(b.variables[0]), bytes(b.size)))),
    ...part("operators by time", "types", types),
    ...part("slowest kernels", "kernels", slowKernels()),
  ];
}

/** Links to the kernels that took longest, where any were timed. */
function slowKernels() {
  const all = (facts.code?.regions ?? []).flatMap(({ kernels }, r) =>
    kernels.map((kernel, k) => [kernel.seconds, r, k]));
  return all.filter(([time]) => time !== null).sort((a, b) => b[0] - a[0]).slice(0, MOST)
    .map(([time, r, k]) => row(kernelLink([r, k]), seconds(time)));
}

/** For each type of operator how often it ran, and how long in all. */
function byType() {
  const found = new Map();
  instructions.forEach((_, i) => {
    const [count, time] = found.get(operatorOf(i).type) ?? [0, 0];
    found.set(operatorOf(i).type, [count + 1, time + took[i]]);
  });
  return [...found].map(([type, [count, time]]) => [type, count, time]).sort((a, b) => b[2] - a[2]);
}

function table(pairs) {
  return make("table", {}, pairs.filter(([, text]) => text !== null && text.length)
    .map(([name, text]) => make("tr", {}, make("td", {}, name), make("td", {}, text))));
}

const links = numbers => numbers.map(i => instructionLink(i));
const named = numbers => [...new Set(numbers)].map(i => row(variableLink(i), variables[i].meta));

function variableParts(number) {
  const { name, meta, kind, fetched, kept, block, planned, place } = variables[number];
  const { writers, readers, shapes, frees, last, inside } = variables[number];
  const absent = planned || place !== null ? "" : block ? "within a block" : "not in this plan";
  const words = [kind, fetched && "fetched", absent].filter(Boolean).join(", ");
  const own = buffers.filter(buffer => buffer.variables.includes(number));
  return [
    closing(),
    make("h2", { class: "mono" }, name),
    make("p", { class: "kind" }, `${words} · block ${block} · ${meta}`),
    ...part("written by", "writers", links(writers)),
    ...part("read by", "readers", links(readers)),
    ...part("of its shape alone", "shapes", links(shapes)),
    ...part("freed after", "frees", links(frees)),
    kept ? make("p", { class: "kind", id: "never" }, "never freed: it is kept") : null,
    ...(place === null ? [] : part("in the place of", "place", named([place]))),
    ...part("last users, in any order", "last", links([...new Set(last)])),
    ...part(block ? "used by" : "used in blocks, or apart from the plan", "inside", inside.map(o =>
      make("span", { class: "mono" }, `block ${operators[o].block}: ${operators[o].type}`))),
    ...own.flatMap(buffer => [
      make("h3", {}, "memory"),
      table([["size", bytes(buffer.size)], ["life", lifeText(buffer)],
        ["holds", buffer.variables.length > 1 ? several(buffer.variables, nameOf) : ""]]),
    ]),
  ].filter(Boolean);
}

function instructionParts(i) {
  const { reads, writes, over, frees } = instructions[i];
  const { type, role, line, source, attrs, outs } = operatorOf(i);
  const made = outs.flatMap(([, held]) => held).filter(v => variables[v].place !== null);
  const waits = graph.around[i];
  const edges = (numbers, end) => numbers.map(n => facts.edges[n])
    .map(edge => row(instructionLink(edge[end]), edge.kinds.join(" ")));
  const lane = facts.streams.tasks.find(([, number]) => number === i);
  const span = facts.spans.find(([number]) => number === i);
  return [
    closing(),
    make("h2", { class: "mono" }, `${i} ${type}`),
    make("p", { class: "kind" }, ROLES[role], line && " · ",
      make("span", { class: "mono" }, line)),
    source ? make("p", { class: "mono" }, source) : null,
    table([
      ["took", span ? ofRun(took[i]) : ""],
      ["began at", span ? duration(span[2]) : ""],
      ["thread", span ? facts.threads[span[1]] : ""],
      ["stream", lane ? facts.streams.lanes[lane[0]] : ""],
      ["alive after", facts.live ? bytes(facts.live[i]) : ""],
      ["machine code", separated(kernelsOf(i).map(place => [kernelLink(place)]))],
    ]),
    ...part("makes", "makes", named(made)),
    ...part("fills", "fills", named(writes)),
    ...part("writes over", "over", named(over)),
    ...part("reads", "reads", named(reads)),
    ...part("then drops", "drops", named(frees)),
    ...part("waits for", "before", edges(waits.before, "before")),
    ...part("is waited for by", "after", edges(waits.after, "after")),
    ...(attrs.length ? [make("h3", {}, "attributes"), table(attrs)] : []),
  ].filter(Boolean);
}
