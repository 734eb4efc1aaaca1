"use strict";
(() => {
  const one = (id) => document.getElementById(id);
  const items = [...document.querySelectorAll(".item")];
  const steps = [...document.querySelectorAll(".step")];
  const form = one("filter");
  const words = one("words");

  // Filter: an item is hidden if its type or its state is not chosen or it lacks the text; a step goes with its item.
  const refused = (name) => new Set([...form.querySelectorAll(`input[name=${name}]:not(:checked)`)].map((box) => box.value));
  const apply = () => {
    const [types, states, text] = [refused("type"), refused("state"), words.value.trim().toLowerCase()];
    const lacks = (element) => Boolean(text) && !element.textContent.toLowerCase().includes(text);
    const hidden = new Set();
    for (const item of items) {
      const { type, state } = item.dataset;
      item.hidden = types.has(type) || states.has(state) || lacks(item);
      if (item.hidden) hidden.add(item.id.slice(2));
    }
    for (const step of steps) {
      const { item, type } = step.dataset;
      step.hidden = one(`i-${item}`) ? hidden.has(item) : types.has(type) || lacks(step);
    }
    one("count").textContent = `${items.length - hidden.size} of ${items.length} items`;
  };
  let timer;
  words.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 120);
  });
  form.addEventListener("change", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const [id, open] of [["open", true], ["close", false]]) {
    one(id).addEventListener("click", () => {
      for (const item of items) if (!item.hidden) item.open = open;
    });
  }
  form.hidden = false;
  apply();
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault();
      words.focus();
    }
  });

  // A link to an item opens it, and shows it where the filter hides it.
  const follow = () => {
    const target = one(location.hash.slice(1));
    if (!target) return;
    target.hidden = false;
    if (target.tagName === "DETAILS") target.open = true;
    target.scrollIntoView({ block: "start" });
  };
  window.addEventListener("hashchange", follow);
  follow();

  // The chart tells its figures under the pointer, or with the arrow keys; Enter and a click go to the commit.
  const { bands, points, budget } = JSON.parse(one("figures").textContent);
  const [chart, cursor, readout] = [one("chart"), one("cursor"), one("readout")];
  const figure = (number) => number.toLocaleString("en-US");
  let current = points.length - 1;
  const show = (index) => {
    current = Math.max(0, Math.min(points.length - 1, index));
    const point = points[current];
    if (!point) return;
    cursor.setAttribute("x1", point.x);
    cursor.setAttribute("x2", point.x);
    const parts = bands.map((band, place) => [band, point.tokens[place]]).filter(([, tokens]) => tokens);
    const told = parts.map(([band, tokens]) => `${band} ${figure(tokens)}`);
    if (point.reported !== null) told.push(`reported ${figure(point.reported)}`);
    const full = point.reported ?? point.total;
    if (budget) told.push(`${Math.round((full / budget) * 100)}% of the budget`);
    readout.textContent = `${point.at.slice(0, 19).replace("T", " ").replace("Z", "")} · ${figure(point.total)} tokens: ${told.join(", ")}`;
  };
  if (points.length) {
    chart.setAttribute("tabindex", "0");
    chart.addEventListener("pointermove", (event) => {
      const box = chart.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * 960;
      let nearest = 0;
      points.forEach((point, index) => {
        if (Math.abs(point.x - x) <= Math.abs(points[nearest].x - x)) nearest = index;
      });
      show(nearest);
    });
    chart.addEventListener("click", () => {
      location.hash = points[current].to;
    });
    chart.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1, Home: -points.length, End: points.length }[event.key];
      if (move) show(current + move);
      else if (event.key === "Enter") location.hash = points[current].to;
      else return;
      event.preventDefault();
    });
    show(current);
  }
})();
