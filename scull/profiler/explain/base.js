"use strict";

// What fails is said on the page, not only where nobody looks.
const failed = text => {
  const problem = document.getElementById("problem");
  problem.hidden = false;
  problem.textContent = "This page could not be drawn: " + text;
};
addEventListener("error", event => failed(event.message));
addEventListener("securitypolicyviolation", event => failed(event.violatedDirective));

const facts = JSON.parse(document.getElementById("facts").textContent);
const at = id => document.getElementById(id);

/** An element with attributes and children; text is text, never markup. */
function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same of a drawing. */
function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  element.append(...children.flat().filter(child => child !== null && child !== undefined));
  return element;
}

/** A number with the unit that keeps it short. */
function scaled(value, units, base) {
  let unit = 0;
  while (Math.abs(value) >= base && unit < units.length - 1) {
    value /= base;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${Number(value.toFixed(digits))} ${units[unit]}`;
}

const duration = ns => scaled(ns, ["ns", "µs", "ms", "s"], 1000);
const bytes = size => scaled(size, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const several = (values, text) => values.map(text).join(", ");

const { instructions, operators, variables, buffers } = facts;
const operatorOf = i => operators[instructions[i].operator];
const nameOf = i => variables[i].name;
const ROLES = { forward: "forward", backward: "backward", update: "updates" };

const took = instructions.map(() => 0);
for (const [i, , , length] of facts.spans) took[i] += length;
const whole = facts.spans.reduce((most, [, , start, length]) => Math.max(most, start + length), 0);

/** The most that all buffers take while each instruction runs, and those of its blocks. */
const during = facts.highest;
const peak = during.reduce((best, size, i) => (size > during[best] ? i : best), 0);

/** The number and the operator of an instruction, what it fills and reads. */
function instructionText(i) {
  const { reads, writes, over } = instructions[i];
  const made = [...new Set([...writes, ...over])];
  const { type, copies } = operatorOf(i);
  const arguments_ = several(reads, nameOf);
  return `${several(made, nameOf)} = ${copies ? "copy of " : ""}${type}(${arguments_})`;
}

/** The links that choose, which is all that choosing takes: the choice is in the address. */
const toVariable = i => "#v=" + encodeURIComponent(variables[i].key);
const toInstruction = i => "#i=" + i;
const go = target => {
  if (target) location.hash = target.slice(1);
};

function variableLink(i, text) {
  return make("a", { class: "v", href: toVariable(i), "data-v": i }, text ?? nameOf(i));
}

function instructionLink(i, text) {
  return make("a", { href: toInstruction(i), "data-i": i }, text ?? `${i} ${operatorOf(i).type}`);
}

/** The variable or instruction that the address names; nothing when it names none. */
function chosenNow() {
  const [kind, ...rest] = location.hash.slice(1).split("=");
  let word;
  try {
    word = decodeURIComponent(rest.join("="));
  } catch {
    return null;
  }
  if (kind === "i" && /^\d+$/.test(word) && Number(word) < instructions.length)
    return { kind, number: Number(word) };
  const number = kind === "v" ? variables.findIndex(v => v.key === word) : -1;
  return number < 0 ? null : { kind, number };
}

/** A word about what the pointer is on. */
function tell(element, textOf) {
  element.addEventListener("pointermove", event => {
    const text = textOf(event.target);
    const tip = at("tip");
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const { width, height } = tip.getBoundingClientRect();
    const beside = (place, size, room) =>
      place + 16 + size > room ? place - size - 10 : place + 16;
    tip.style.left = `${Math.max(4, beside(event.clientX, width, innerWidth))}px`;
    tip.style.top = `${Math.max(4, beside(event.clientY, height, innerHeight))}px`;
  });
  element.addEventListener("pointerleave", () => (at("tip").hidden = true));
}

/** What stands above a drawing: a legend on the left, tools on the right. */
function bar(legend, ...tools) {
  return make("div", { class: "bar" }, legend, make("span", { class: "room" }), tools);
}

/** Buttons in a row, each with its name for those who hear. */
function buttons(...pairs) {
  return make("span", { class: "buttons" }, pairs.map(([sign, name, act]) => {
    const button = make("button", { type: "button", title: name, "aria-label": name }, sign);
    button.addEventListener("click", act);
    return button;
  }));
}

function roleLegend() {
  return Object.entries(ROLES)
    .filter(([role]) => instructions.some((_, i) => operatorOf(i).role === role))
    .map(([role, word]) => {
      const patch = make("i", { class: role });
      patch.style.background = "var(--role)";
      return make("span", {}, patch, word);
    });
}
