function about() {
  const { blocks, draws, conflicts, edges, streams, threads } = facts;
  const parts = [
    plural(operators.length, "operator"), plural(blocks.length, "block"),
    plural(variables.length, "variable"),
    draws ? plural(draws, "random draw") : "", facts.sequential ? "in program order" : "",
  ];
  at("about").textContent = parts.filter(Boolean).join(" · ");
  const lanes = streams.lanes.length;
  const tiles = [
    [instructions.length, "instructions"], [duration(whole), "one run"],
    buffers.length ? [bytes(during[peak]), "at the peak"] : null,
    [plannedPeak(), facts.peak.because ? "planned, at most" : "planned peak", facts.peak.because],
    [edges.length, `edges of ${conflicts}`],
    [threads.length, threads.length === 1 ? "thread" : "threads"],
    [lanes, `${lanes === 1 ? "stream" : "streams"}, ${streams.place}`],
  ];
  at("tiles").append(...tiles.filter(Boolean).map(([value, name, title]) =>
    make("div", { title }, make("b", {}, value), make("span", {}, name))));
}

const plannedPeak = () => (facts.peak.size === null ? "unbounded" : bytes(facts.peak.size));

function program() {
  const check = make("input", { type: "checkbox" });
  const section = at("program");
  check.addEventListener("change", () => section.classList.toggle("attributes", check.checked));
  section.append(bar([make("label", {}, check, "with attributes"), ...roleLegend()]));
  section.append(...facts.blocks.map(blockText), variableTable());
}

function blockText(block, index) {
  const region = { tabindex: 0, role: "region", "aria-label": `block ${index}` };
  const listing = make("div", { class: "listing", ...region });
  let before = null;
  for (const number of block.operators) {
    const { line, source } = operators[number];
    const head = [line || "a loaded file", "  ", make("b", {}, source)];
    if (line !== before) listing.append(make("div", { class: "line" }, head));
    before = line;
    listing.append(operatorText(number));
  }
  const within = block.parent < 0 ? "" : ` in block ${block.parent}`;
  const title = `Block ${index}${within}: ${plural(block.operators.length, "operator")}`;
  return make("details", { open: "" }, make("summary", {}, title), listing);
}

function operatorText(number) {
  const { type, role, instruction, ins, outs, attrs, copies, takes, block } = operators[number];
  const linked = held => separated(held.map(v => variableLink(v)));
  const slots = pairs => separated(pairs.map(([slot, held]) => [`${slot}=`, linked(held)]));
  const said = several(attrs, ([name, value]) => `${name}=${value}`);
  const planned = instruction !== null, left = !planned && block === 0;
  const text = make("div", {}, slots(outs), outs.length ? " = " : "",
    make("b", {}, type), "(", slots(ins), ")",
    copies ? make("em", {}, "results are copied") : null,
    takes === null ? null : make("em", {}, "in the place of ", variableLink(takes)),
    attrs.length ? make("span", { class: "attrs" }, " ", said) : null);
  return make("div", { class: `op ${role}${left ? " unplanned" : ""}`, "data-o": number },
    planned ? instructionLink(instruction, `${instruction}`) : make("span", {}, "·"), text);
}

function separated(groups) {
  return groups.flatMap((group, n) => (n ? [", ", group] : [group])).flat(2);
}

function variableTable() {
  const titles = ["variable", "kind", "value", "written by", "read by", "freed after", "bytes"];
  const sizes = new Map();
  for (const buffer of buffers) for (const v of buffer.variables) sizes.set(v, buffer.size);
  const rows = variables.map((v, i) => {
    const cells = [variableLink(i), v.kind, v.meta, ...[v.writers, v.readers, v.frees].map(uses)];
    const size = sizes.has(i) ? bytes(sizes.get(i)) : "";
    const last = make("td", { class: "n" }, size);
    return make("tr", {}, cells.map(cell => make("td", {}, cell)), last);
  });
  const head = make("tr", {}, titles.map(title => make("th", { scope: "col" }, title)));
  const all = make("table", { class: "mono" }, make("thead", {}, head), make("tbody", {}, rows));
  return make("details", {}, make("summary", {}, plural(variables.length, "variable")),
    make("div", { class: "scroll", tabindex: 0 }, all));
}

const uses = numbers => separated(numbers.map(i => instructionLink(i, `${i}`)));

function search() {
  at("names").append(...variables.map(v => make("option", { value: v.key })));
  const find = () => {
    const word = at("find").value.trim();
    const number = /^#\d+$/.test(word) ? Number(word.slice(1)) : -1;
    const found = variables.findIndex(v => v.key === word);
    if (number >= 0 && number < instructions.length) go(toInstruction(number));
    else if (found >= 0) go(toVariable(found));
    return found >= 0 || number >= 0;
  };
  at("find").addEventListener("change", find);
  at("search").addEventListener("submit", event => {
    event.preventDefault();
    const part = at("find").value.trim().toLowerCase();
    const near = variables.findIndex(v => v.key.toLowerCase().includes(part));
    if (!find() && part && near >= 0) go(toVariable(near));
  });
  addEventListener("keydown", event => {
    if (event.target.matches("input") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") at("find").focus();
    else if (event.key === "Escape") unchosen();
    else return;
    event.preventDefault();
  });
}

/** Say of some sections that there is nothing to draw. */
function absent(...names) {
  const why = idle ? "The plan has no instructions." : "No memory was counted in this run.";
  for (const name of names) at(name).append(make("p", {}, why));
}

/** Everything shows the same choice, that of the address. */
function show() {
  const now = chosenNow();
  document.body.classList.toggle("some", Boolean(now));
  inspect(now);
  for (const link of document.querySelectorAll("a.now, .op.now")) link.classList.remove("now");
  if (now) {
    const operator = now.kind === "i" ? instructions[now.number].operator : "";
    const same = `a[data-${now.kind}="${now.number}"], .op[data-o="${operator}"]`;
    for (const element of document.querySelectorAll(same)) element.classList.add("now");
  }
  for (const chart of charts) chart?.render();
  graph?.mark();
}

about();
const idle = !instructions.length;
const charts = idle ? [] : [timelineChart(), buffers.length ? memoryChart() : null];
const graph = idle ? null : new Graph(at("graph"));
if (idle) absent("timeline", "memory", "graph", "streams");
else charts.push(streamChart());
charts.push(...codeSection());
if (!idle && !buffers.length) absent("memory");
program();
search();
show();
addEventListener("hashchange", show);
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
document.documentElement.dataset.drawn = "yes";
