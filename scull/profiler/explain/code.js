const POOR = 0.25; // a share of the peak below which a meter warns

/** How often a second something happens. */
const rate = (value, unit) => scaled(value, [unit, `K${unit}`, `M${unit}`, `G${unit}`, `T${unit}`], 1000);
const count = value => scaled(value, ["", "thousand", "million", "billion"], 1000).trim();
const seconds = value => duration(value * 1e9);

/** The kernels that an instruction is part of, by region. */
const kernelsOf = i => (facts.code?.regions ?? []).flatMap((region, r) => region.kernels
  .flatMap(({ instructions: held }, k) => (held.includes(i) ? [[r, k]] : [])));

const kernelName = (r, k) => (facts.code.regions.length > 1 ? `kernel ${r}.${k}` : `kernel ${k}`);

function kernelLink([r, k]) {
  const link = make("a", { href: "" }, kernelName(r, k));
  link.addEventListener("click", event => {
    event.preventDefault();
    const found = at(`kernel-${r}-${k}`);
    found.open = true;
    found.scrollIntoView({ block: "nearest" });
    found.querySelector("summary").focus();
  });
  return link;
}

/** The section of machine code; its charts. */
function codeSection() {
  const { code } = facts, section = at("code");
  if (!code) {
    section.hidden = true;
    return [];
  }
  const kernels = code.regions.flatMap(region => region.kernels);
  const total = kernels.reduce((sum, kernel) => sum + kernel.seconds, 0);
  const compiled = code.texts.reduce((sum, text) => sum + text.seconds, 0);
  const [, far] = code.peak.bandwidths.at(-1), [, near] = code.peak.bandwidths[0];
  const inside = code.regions.flatMap(region => region.instructions);
  const left = instructions.length - new Set(inside).size;
  const tiles = [
    [kernels.length, `kernels, ${plural(code.regions.length, "region")}`],
    left ? [left, "instructions outside"] : null,
    total ? [seconds(total), "all kernels, each alone"] : null,
    [seconds(compiled), "to compile them"],
    [`${code.hits} of ${code.hits + code.misses}`, "modules from the cache"],
    [rate(code.peak.operations.float32, "flop/s"), `at most, float32, ${code.level}`],
    [rate(near, "B/s"), "at most, nearest cache"], [rate(far, "B/s"), "at most, memory"],
  ];
  section.append(make("div", { class: "tiles" }, tiles.filter(Boolean).map(([value, name]) =>
    make("div", {}, make("b", {}, value), make("span", {}, name)))));
  if (code.batch) section.append(make("p", { class: "batch" }, `Batches: ${code.batch}.`));
  const charts = code.regions.map((region, r) => regionParts(section, region, r)).filter(Boolean);
  if (code.outside.length) {
    section.append(make("h3", {}, "Outside, and why"), make("ul", { class: "outside" },
      code.outside.map(({ instruction, reason }) =>
        make("li", {}, instructionLink(instruction), `: ${reason}`))));
  }
  return charts;
}

function regionParts(section, region, r) {
  const many = facts.code.regions.length > 1 ? `Region ${r}: ` : "";
  const size = region.arena.size ? `, ${bytes(region.arena.size)} between them` : "";
  const words = `${many}${plural(region.instructions.length, "operator")} as `
    + `${plural(region.kernels.length, "kernel")}${size}`;
  section.append(make("h3", {}, words));
  const chart = region.arena.blocks.length ? arenaChart(section, region, r) : null;
  section.append(...region.kernels.map((kernel, k) => kernelText(kernel, r, k)));
  return chart;
}

/** Where each array between kernels lies, from the kernel that makes it to the last that reads. */
function arenaChart(section, { arena, kernels }, r) {
  const tall = Math.min(TALL, 26 * arena.blocks.length + 20);
  const scale = tall / Math.max(arena.size, 1);
  const items = arena.blocks.map(block => {
    const { name, variable, offset, size, first, last } = block;
    const height = Math.max(size * scale, 0.8);
    return {
      from: first, to: last + 1, top: tall - offset * scale - height, height,
      text: name, role: "forward pale", target: variable === null ? null : toVariable(variable),
      marks: now => now.kind === "v" && now.number === variable,
      about: `${name}\n${bytes(size)} at ${offset}\n`
        + `from ${kernelName(r, first)} to ${kernelName(r, last)}`,
    };
  });
  const rows = [0, 0.5, 1].map(part =>
    ({ text: bytes(Math.round(arena.size * part)), top: Math.max(tall * (1 - part) + 4, 10) }));
  return new Chart(section, {
    items, rows, height: tall, label: "The arena over the kernels",
    legend: make("span", {}, "The arena: offsets over kernels"),
    axis: { end: kernels.length, count: true, text: k => kernelName(r, k) },
  });
}

function kernelText(kernel, r, k) {
  const { instructions: held, share, bound, read, written, operations } = kernel;
  const types = [...new Set(held.map(i => operatorOf(i).type))];
  const head = make("summary", {}, make("b", {}, kernelName(r, k)), " ",
    make("span", { class: "types" }, types.join(", ") || kernel.origins.join(", ")),
    make("span", { class: "room" }),
    share === null ? null : make("span", { class: "n" }, seconds(kernel.seconds)),
    share === null ? null : meter(share, bound));
  const did = held.length === 1 ? "This operator is" : `These ${held.length} operators are`;
  const all = separated(held.map(i => [instructionLink(i)]));
  const work = [
    ["reads", bytes(read)], ["writes", bytes(written)],
    ["computes", `${count(operations)} operations on floats`],
    ["takes", share === null ? "" : seconds(kernel.seconds)],
    ["reaches", share === null ? "" : `${percent(share)} of what ${bound} allows here`],
    ["compiles in", seconds(facts.code.texts[kernel.text].seconds)],
  ];
  const body = [
    make("p", {}, `${did} ${kernelName(r, k)}: `, all, kernel.because.length ? ". Why:" : ""),
    make("ul", {}, kernel.because.map(text => make("li", {}, text))),
    make("pre", { tabindex: 0 }, kernel.lines.join("\n")),
    table(work),
    folded("LLVM IR", () => facts.code.texts[kernel.text].ir),
    folded("machine instructions", () => facts.code.texts[kernel.text].assembly),
  ];
  return make("details", { class: "kernel", id: `kernel-${r}-${k}` }, head, body);
}

const percent = share => `${(100 * share).toFixed(0)} %`;

function meter(share, bound) {
  const title = `${percent(share)} of what ${bound} allows`;
  const bar = { min: 0, max: 1, low: POOR, optimum: 1, value: Math.min(share, 1) };
  return make("span", { class: "share", title }, make("meter", { ...bar, "aria-label": title }),
    ` ${percent(share)}`);
}

/** A text that is put into the page when it is opened. */
function folded(title, textOf) {
  const text = make("pre", { tabindex: 0 });
  const details = make("details", {}, make("summary", {}, title), text);
  details.addEventListener("toggle", () => (text.textContent ||= textOf()));
  return details;
}
