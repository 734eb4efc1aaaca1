"use strict";
(() => {
  const one = (id) => document.getElementById(id);
  const frame = (work) => requestAnimationFrame(() => requestAnimationFrame(work));

  // Parts of the page are texts in `noscript` until they are scrolled to. Only these texts, as they are in the file, become elements.
  const sources = [];
  const policy = window.trustedTypes?.createPolicy("page", { createHTML: (index) => sources[Number(index)] });
  const chunks = [...document.querySelectorAll(".chunk")].map((host, index) => {
    sources.push(host.firstElementChild.textContent);
    host.firstElementChild.remove();
    const count = Number(host.dataset.count);
    return { host, index, count, shown: count, height: 0, parts: null, store: null, live: false, ranges: [] };
  });
  const ofHost = new Map(chunks.map((chunk) => [chunk.host, chunk]));
  const cards = chunks.filter((chunk) => chunk.host.parentElement.className === "items");
  const LIVE = 12;

  const parse = (chunk) => {
    if (chunk.parts) return;
    const template = document.createElement("template");
    template.innerHTML = policy ? policy.createHTML(chunk.index) : sources[chunk.index];
    chunk.store = template.content;
    chunk.parts = [...chunk.store.children];
  };
  const reserve = (chunk) => {
    const each = chunk.height || chunk.count * (chunk.host.parentElement.className === "items" ? 90 : 36);
    chunk.host.style.minHeight = chunk.live ? "" : `${Math.round((each * chunk.shown) / chunk.count)}px`;
    chunk.host.hidden = chunk.shown === 0;
  };
  const show = (chunk) => {
    if (chunk.live) return;
    parse(chunk);
    chunk.live = true;
    chunk.host.append(...chunk.parts);
    reserve(chunk);
    highlight(chunk);
    mark(chunk);
  };
  const hide = (chunk) => {
    chunk.height = (chunk.host.offsetHeight * chunk.count) / Math.max(1, chunk.shown);
    chunk.live = false;
    chunk.store.append(...chunk.parts);
    for (const [name, range] of chunk.ranges) marks?.get(name).delete(range);
    chunk.ranges = [];
    reserve(chunk);
  };
  const near = new Set();
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const chunk = ofHost.get(target);
      if (isIntersecting) {
        near.add(chunk);
        show(chunk);
      } else near.delete(chunk);
    }
    // What is far away is put aside, so that a long page stays light.
    const far = cards.filter((chunk) => chunk.live && !near.has(chunk));
    if (cards.length > LIVE) far.slice(0, Math.max(0, far.length + near.size - LIVE)).forEach(hide);
  }, { rootMargin: "1200px" });

  // Colors of code are painted over the text. They add no elements.
  const marks = window.Highlight && CSS.highlights ? new Map(["comment", "string", "number", "keyword", "line", "hit"].map((name) => [name, new Highlight()])) : null;
  marks?.forEach((mark, name) => CSS.highlights.set(name, mark));
  const keywords = "as async await break case catch class const continue def default defer del do elif else enum except export extends extern false finally fn for from func function go if impl implements import in interface is lambda let loop match mod module mut namespace new nil None not null or package pass private protected pub public raise return select self Self static struct super switch this throw trait true True False try type typeof undefined unsafe use using var void where while with yield echo fi then done esac local select insert update delete".split(" ");
  const token = new RegExp(String.raw`(?<line>^ *\d+[→\t])|(?<comment>\/\*[\s\S]*?\*\/|(?<![:\w])\/\/[^\n]*|(?<=^|[\s→])#(?![!\[])[^\n]*)|(?<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n]){0,200}'|\x60(?:\\.|[^\x60\\])*\x60)|(?<number>\b\d[\w.]*\b)|\b(?<keyword>${keywords.join("|")})\b`, "gm");
  const textsOf = function* (element) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) yield node;
  };
  const paint = (chunk, name, node, start, length) => {
    const end = Math.min(node.length, start + length);
    const range = new StaticRange({ startContainer: node, startOffset: start, endContainer: node, endOffset: end });
    marks.get(name).add(range);
    chunk.ranges.push([name, range]);
  };
  const highlight = (chunk) => {
    if (!marks) return;
    for (const element of chunk.host.querySelectorAll("pre code[class], pre.diff, pre.file, pre.json")) {
      const [isRead, isPlain] = [element.classList.contains("read"), element.closest("[data-plain]")];
      for (const node of textsOf(element)) {
        if (node.length > 20000 || node.parentElement.className === "hunk") continue;
        for (const found of node.data.matchAll(token)) {
          const name = Object.keys(found.groups).find((group) => found.groups[group] !== undefined);
          if (name === "line" ? isRead : !isPlain) paint(chunk, name, node, found.index, found[0].length);
        }
      }
    }
  };

  // The words that are searched for are painted, too. If all of them are in folds of a card, the first one is opened.
  const opened = [];
  let words = "";
  const isFolded = (element) => element.closest("details:not([open])") && !element.closest("summary");
  const mark = (chunk) => {
    if (!marks || !words) return;
    for (const card of chunk.parts) {
      if (card.hidden) continue;
      const found = [];
      for (const node of textsOf(card)) {
        const text = node.data.toLowerCase();
        for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
          paint(chunk, "hit", node, at, words.length);
          found.push(node.parentElement);
        }
      }
      if (found.length && found.every(isFolded)) unfold(found[0], opened);
    }
  };
  const unfold = (element, folds = []) => {
    for (let fold = element.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])")) {
      fold.open = true;
      folds.push(fold);
    }
  };

  // Filter: a card is hidden if its type, priorities, tool, or size is not chosen, or it lacks the text.
  const form = one("filter");
  const field = one("words");
  const texts = new WeakMap();
  const textOf = (card) => {
    if (!texts.has(card)) texts.set(card, card.textContent.toLowerCase());
    return texts.get(card);
  };
  const tokensOf = (card) => Number(card.querySelector(".tokens").textContent.replaceAll(",", ""));
  const chosen = (name) => {
    const boxes = [...form.querySelectorAll(`input[name=${name}]`)];
    const values = new Set(boxes.filter((box) => box.checked).flatMap((box) => box.value.split(" ")));
    return (value) => !boxes.length || values.has(value);
  };
  const total = cards.reduce((sum, chunk) => sum + chunk.count, 0);
  const item = () => /^#\d+$/.test(field.value.trim()) && field.value.trim().slice(1);
  const say = (text) => {
    one("count").textContent = text;
  };
  let filtered = false;
  const apply = () => {
    const [isType, isState] = [chosen("type"), chosen("state")];
    words = item() ? "" : field.value.trim().toLowerCase();
    const [tool, size] = [one("tool")?.value, Number(one("size")?.value ?? 0)];
    const everything = !form.querySelector("input[name]:not(:checked)") && !words && !tool && !size;
    let found = total;
    if (!everything || filtered) {
      found = 0;
      marks?.get("hit").clear();
      for (const fold of opened.splice(0)) fold.open = false;
      for (const chunk of cards) {
        parse(chunk);
        chunk.shown = 0;
        for (const card of chunk.parts) {
          const { type, state = "normal" } = card.dataset;
          const fits = isType(type) && state.split(" ").some(isState) && (!tool || card.dataset.tool === tool) && (!size || tokensOf(card) >= size);
          card.hidden = !(fits && (!words || textOf(card).includes(words)));
          if (!card.hidden) chunk.shown += 1;
        }
        found += chunk.shown;
        reserve(chunk);
        if (chunk.live) mark(chunk);
      }
    }
    filtered = !everything;
    one("nothing").hidden = found > 0 || total === 0;
    say(`${found.toLocaleString("en-US")} of ${total.toLocaleString("en-US")}`);
  };
  let timer;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 120);
  });
  form.addEventListener("change", ({ target }) => {
    if (target.id === "only") for (const box of form.querySelectorAll("input[name=type]")) box.checked = !target.checked || box.value === "dialogue";
    if (target !== field) apply();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  // Enter goes to the next card that was found, Shift and Enter to the one before, and after `#12` to that item.
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    clearTimeout(timer);
    apply();
    if (item()) go(item());
    else {
      const aimed = document.querySelector(".items article.aimed:not([hidden])");
      const card = words && next(aimed, event.shiftKey ? -1 : 1, (card) => !card.hidden);
      if (card) go(card.id, () => ofHost.get(card.parentElement).ranges.find(([name, range]) => name === "hit" && card.contains(range.startContainer))?.[1].startContainer.parentElement);
    }
  });
  for (const [id, open] of [["open", true], ["close", false]]) {
    one(id).addEventListener("click", () => {
      for (const chunk of cards) {
        parse(chunk);
        for (const card of chunk.parts) for (const fold of card.querySelectorAll("details.fold, details.diff")) fold.open = open;
      }
    });
  }

  // Links to items, and the previous and the next prompt.
  const next = (seen, by, fits) => {
    let chunk = seen ? cards.indexOf(ofHost.get(seen.parentElement)) : by > 0 ? 0 : cards.length - 1;
    for (let at = seen && cards[chunk].parts.indexOf(seen) + by; cards[chunk]; chunk += by, at = null) {
      parse(cards[chunk]);
      const { parts } = cards[chunk];
      for (at ??= by > 0 ? 0 : parts.length - 1; parts[at]; at += by) if (fits(parts[at])) return parts[at];
    }
    return null;
  };
  const find = (anchor) => {
    if (one(anchor)) return one(anchor);
    for (const chunk of chunks) {
      const isCard = chunk.host.parentElement.className === "items";
      if (isCard ? !/^\d/.test(anchor) : !anchor.startsWith("c-")) continue;
      if (sources[chunk.index].includes(` id="${anchor}"`)) {
        show(chunk);
        return one(anchor);
      }
    }
    return null;
  };
  const go = (anchor, inner = () => null) => {
    const target = find(anchor);
    if (!target) {
      say(`There is no item #${anchor}`);
      return;
    }
    for (let hidden = target.closest("[hidden]"); hidden; hidden = target.closest("[hidden]")) hidden.hidden = false;
    unfold(target);
    document.querySelector(".aimed")?.classList.remove("aimed");
    target.classList.add("aimed");
    // Not if another one was aimed at meanwhile.
    const aim = () => target.classList.contains("aimed") && (inner() ?? target).scrollIntoView({ block: inner() ? "center" : "start" });
    aim();
    // What is built above changes the height.
    frame(() => (aim(), frame(aim)));
  };
  const follow = () => location.hash.length > 1 && go(decodeURIComponent(location.hash.slice(1)));
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) follow();
  });
  const { bands, points, budget, prompts } = JSON.parse(one("figures").textContent);
  const isPrompt = new Set(prompts);
  const step = (by) => {
    const edge = field.parentElement.getBoundingClientRect().bottom + 24;
    const isBelow = (card) => card.getBoundingClientRect().bottom > edge;
    // The end of the page cannot be scrolled to the top.
    const aimed = document.querySelector(".items article.aimed");
    const isSeen = aimed && isBelow(aimed) && aimed.getBoundingClientRect().top < innerHeight;
    const seen = isSeen ? aimed : [...document.querySelectorAll(".items article")].find(isBelow);
    const prompt = seen && next(seen, by, (card) => isPrompt.has(card.id) && !card.hidden);
    if (!prompt) return;
    location.hash = prompt.id;
    follow();
  };
  one("next")?.addEventListener("click", () => step(1));
  one("previous")?.addEventListener("click", () => step(-1));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (event.key === "/") {
      event.preventDefault();
      field.focus();
    } else if (event.key === "n") step(1);
    else if (event.key === "p") step(-1);
  });

  form.hidden = false;
  const isNarrow = matchMedia("(max-width: 60rem)").matches;
  if (isNarrow) one("index").open = false;
  one("choices").open = !isNarrow;
  for (const chunk of chunks) {
    reserve(chunk);
    watch.observe(chunk.host);
  }
  // A short page is built at once, so that the browser finds text in it.
  if (cards.length <= LIVE / 2) chunks.forEach(show);
  window.addEventListener("beforeprint", () => chunks.forEach(show));
  apply();
  follow();

  // The chart tells its figures under the pointer, or with the arrow keys; Enter and a click go to the item.
  const [chart, cursor, readout] = [one("chart"), one("cursor"), one("readout")];
  const figure = (number) => number.toLocaleString("en-US");
  let current = points.length - 1;
  const tell = (index) => {
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
      tell(nearest);
    });
    chart.addEventListener("click", () => {
      location.hash = points[current].to;
    });
    chart.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1, Home: -points.length, End: points.length }[event.key];
      if (move) tell(current + move);
      else if (event.key === "Enter") location.hash = points[current].to;
      else return;
      event.preventDefault();
    });
    tell(current);
  }
})();
