"use strict";
/* Makes the page of the report that stands in it as JSON (page_overview.c, page_hazards.c). Text is
 * only ever text: nothing here reads it as markup. */
(() => {
  const report = JSON.parse(document.getElementById("report").textContent);
  const hazards = report.hazards;
  const byId = (id) => document.getElementById(id);

  /* ---- elements ---- */

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {}))
      if (value !== undefined && value !== null && value !== false)
        element.setAttribute(name, value === true ? "" : value);
    element.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
    return element;
  }

  const el = (tag, attributes, ...children) =>
    fill(document.createElement(tag), attributes, children);

  const number = (value) => value.toLocaleString("en");
  const plural = (count, word) => number(count) + " " + word + (count === 1 ? "" : "s");

  /* ---- what is built when the reader comes to it ---- */

  const builders = new WeakMap();
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries)
      if (entry.isIntersecting)
        build(entry.target);
  }, { rootMargin: "900px" });

  function later(element, make) {
    builders.set(element, make);
    watcher.observe(element);
    return element;
  }

  function build(element) {
    const make = builders.get(element);
    if (!make)
      return;
    builders.delete(element);
    watcher.unobserve(element);
    element.classList.remove("pending");
    element.style.removeProperty("min-height");
    make(element);
  }

  /* Boxes of `size` items each, as high as they are going to be; and the box of an item. */
  const boxOf = new WeakMap();
  function inBoxes(items, size, tag, height, make) {
    const boxes = [];
    for (let first = 0; first < items.length; first += size) {
      const part = items.slice(first, first + size);
      const box = el(tag, { class: "pending" });
      box.style.minHeight = part.reduce((sum, item) => sum + height(item), 0) + "px";
      for (const item of part)
        boxOf.set(item, box);
      boxes.push(later(box, () => box.append(...part.map(make))));
    }
    return boxes;
  }

  /* ---- words ---- */

  const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];
  function duration(ns) {
    const [unit, name] = UNITS.find(([size]) => Math.abs(ns) >= size) || UNITS[3];
    return Number((ns / unit).toPrecision(3)) + " " + name;
  }

  const MEANINGS = {
    observed: "it came before the operation was complete, in one of these runs",
    latent: "nothing kept it from coming too early: in these runs it came late enough, by luck",
    advisory: "not wrong by itself, and worth a look",
    suppressed: "found, and taken for granted by a suppression",
    new: "not in the baseline", unchanged: "in the baseline as well",
  };
  const isHealed = (hazard) => hazard.outcome.startsWith("healed");
  const isLatent = (hazard) => hazard.certainty === "latent";

  /* What the two sides are, by the beginning of the code. */
  const ROLES = [
    ["SC204", "Too early", "Not complete"], ["SC301", "In the capture", "Capture"],
    ["SC302", "In the capture", "Capture"], ["SC303", "Beside the capture", "Capture"],
    ["SC304", "Not captured", "Capture"], ["SC305", "Not captured", "Captured"],
    ["SC401", "Launch", "Node"], ["SC402", "Launch", "Node"], ["SC5", "Too early", "Not complete"],
    ["SC601", "End", "Allocation"], ["SC602", "Latest use", "Allocation"],
    ["SC603", "Too late", "First launch"], ["", "Too early", "In flight"],
  ];
  function roleOf(hazard, side) {
    const [, event, operation] = ROLES.find(([code]) => hazard.code.startsWith(code));
    return side.role === "event" ? event : side.role === "free" ? "Freed before" :
      hazard.advisory && hazard.code === "SC305" ? "Used later" : operation;
  }

  const sentence = (hazard) =>
    hazard.mistake.map((piece, index) => index % 2 ? el("code", {}, piece) : piece);
  const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);
  const folderOf = (path) => path.slice(0, path.lastIndexOf("/") + 1);
  const NOWHERE = "no frame of your own";

  /* A fingerprint is in every report the same; places that share one are told apart by number. */
  const seen = new Map();
  hazards.forEach((hazard, index) => {
    const id = hazard.code + "-" + hazard.id.slice(0, 12);
    const count = (seen.get(id) || 0) + 1;
    seen.set(id, count);
    hazard.key = count > 1 ? id + "-" + count : id;
    hazard.index = index;
    hazard.file = hazard.file || NOWHERE;
    hazard.state = hazard.advisory ? "advisory" : hazard.suppression ? "suppressed" : hazard.news || hazard.certainty;
  });
  const byKey = new Map(hazards.map((hazard) => [hazard.key, hazard]));

  /* ---- source ---- */

  const C_WORDS = "alignas auto bool break case catch char class const constexpr continue default delete do " +
    "double else enum explicit extern false float for if inline int long namespace new noexcept nullptr " +
    "operator private public register return short signed sizeof static struct switch template this throw " +
    "true try typedef typename union unsigned using virtual void volatile while size_t uint8_t uint32_t " +
    "uint64_t int32_t int64_t NULL __global__ __device__ __host__ __shared__";
  const PYTHON_WORDS = "and as assert async await break class continue def del elif else except False finally " +
    "for from global if import in is lambda None nonlocal not or pass raise return self True try while with yield";
  const RUST_WORDS = "as async await break const continue crate else enum extern false fn for if impl in let " +
    "loop match mod move mut pub ref return self static struct super trait true type unsafe use where while";
  const setOf = (words) => new Set(words.split(" "));
  const C = { words: setOf(C_WORDS), comment: "\\/\\/.*|\\/\\*.*?(?:\\*\\/|$)" };
  const PYTHON = { words: setOf(PYTHON_WORDS), comment: "#.*" };
  const RUST = { words: setOf(RUST_WORDS), comment: C.comment };
  const OTHER = { words: new Set(), comment: "(?!)" };
  const LANGUAGES = { py: PYTHON, pyx: PYTHON, pyi: PYTHON, jl: PYTHON, rs: RUST };
  for (const ending of ["c", "h", "cc", "cpp", "cxx", "cu", "cuh", "hh", "hpp", "inl", "java", "go", "cs", "d", "js"])
    LANGUAGES[ending] = C;
  for (const language of [C, PYTHON, RUST, OTHER])
    language.tokens = new RegExp("(" + language.comment + ")|(\"(?:\\\\.|[^\"\\\\])*\"?|'(?:\\\\.|[^'\\\\])*'?)" +
      "|(\\b\\d[\\w.']*)|([A-Za-z_]\\w*)(?=(\\s*\\()?)|(->)", "g");
  const languageOf = (file) => LANGUAGES[file.slice(file.lastIndexOf(".") + 1)] || OTHER;

  /* [from, to, class] of what is coloured. A comment that began in a line before is known by the
   * asterisk that it goes on with. */
  function tokensOf(text, language) {
    if (language !== PYTHON && /^\s*\*(?:\s|\/|$)/.test(text))
      return [[0, text.length, "c"]];
    return Array.from(text.matchAll(language.tokens), (match) => {
      const kind = match[1] !== undefined ? "c" : match[2] !== undefined ? "s" :
        match[3] !== undefined ? "n" : match[6] ? "o" : language.words.has(match[4]) ? "k" : match[5] ? "f" : "";
      return [match.index, match.index + match[0].length, kind];
    }).filter(([, , kind]) => kind);
  }

  /* A line of source that is too long goes on behind a bracket rather than within a name. */
  const withBreaks = (text) => text.match(/[^({]*[({]+|[^({]+/g)
    .flatMap((piece) => /[({]$/.test(piece) ? [piece, el("wbr")] : [piece]);

  /* Text with its colours, cut at the ends of the mark. */
  function coloured(text, language, mark) {
    const parts = [], tokens = tokensOf(text, language);
    let at = 0;
    const inMark = () => mark && at >= mark[0] && at < mark[1];
    const target = el("span");
    let into = target;
    while (at < text.length) {
      while (tokens.length && tokens[0][1] <= at)
        tokens.shift();
      const ends = [text.length];
      let kind = "";
      if (tokens.length && tokens[0][0] <= at) {
        kind = tokens[0][2];
        ends.push(tokens[0][1]);
      } else if (tokens.length) {
        ends.push(tokens[0][0]);
      }
      if (mark)
        ends.push(...mark.filter((end) => end > at));
      const end = Math.min(...ends), piece = text.slice(at, end);
      if (inMark() && into === target)
        target.append(into = el("mark"));
      else if (!inMark())
        into = target;
      into.append(...kind ? [el("span", { class: "t" + kind }, piece)] : withBreaks(piece));
      at = end;
    }
    return Array.from(target.childNodes);
  }

  const indentOf = (text) => text.search(/\S/) < 0 ? Infinity : text.search(/\S/);
  const commonIndent = (lines) => {
    const least = Math.min(...lines.map(indentOf));
    return least === Infinity ? 0 : least;
  };

  /* A line with its number. Where it wraps it goes on further in than it began. */
  function sourceLine(kind, label, text, language, mark) {
    const indent = Math.min(indentOf(text), text.length);
    const code = el("code", {}, coloured(text.slice(indent), language, mark && mark.map((end) => end - indent)));
    code.style.setProperty("--indent", indent + "ch");
    return el("div", { class: kind }, el("b", {}, label), code);
  }

  function sourceOf(side) {
    const [first, ...lines] = report.sources[side.source];
    const less = commonIndent(lines), language = languageOf(side.file);
    const mark = side.mark || [-1];
    const from = mark[0] < 0 ? 0 : mark[1].length - less;
    return el("div", { class: "source" }, lines.map((text, index) => sourceLine(
      first + index === side.line ? "it" : "", first + index, text.slice(less), language,
      index === mark[0] && from >= 0 ? [from, from + mark[2].length] : null)));
  }

  function sketchOf(hazard) {
    const language = languageOf(hazard.hint_file);
    const less = commonIndent(hazard.hint.filter(([sign]) => sign !== ".").map(([, , text]) => text));
    const kinds = { "+": "added", "-": "removed", ".": "gap" };
    return el("div", { class: "source sketch" }, hazard.hint.map(([sign, line, text]) =>
      sourceLine(kinds[sign] || "", sign === "." ? "\u22ee" : sign === " " ? line || "" : sign,
                 text.slice(less), language)));
  }

  /* ---- a card ---- */

  const badge = (kind, text) => el("span", { class: "badge " + kind, title: MEANINGS[kind] }, text);

  function factsOf(hazard) {
    return el("p", { class: "facts" },
      el("a", { class: "permalink", href: "#" + hazard.key, title: "Link to this place" },
        hazard.code), " ",
      el("span", { class: "name" }, hazard.name), " ",
      badge(hazard.certainty, hazard.certainty), " ",
      hazard.advisory ? [badge("advisory", "advisory"), " "] : null,
      hazard.news ? [badge(hazard.news, hazard.news), " "] : null,
      hazard.suppression ? [badge("suppressed", "suppressed: " + hazard.suppression), " "] : null,
      el("span", { class: "count" }, hazard.count),
      hazard.label ? [" ", el("span", {}, "during ", el("code", {}, hazard.label))] : null,
      copyButton(hazard));
  }

  /* Names stand in code, so that nothing of them is Markdown. */
  const codeText = (text) => "`" + text.replace(/[`\n]/g, "'") + "`";

  function sketchText(hazard) {
    const lines = (hazard.hint || []).map(([sign, , text]) => sign === "." ? " ..." : sign + text);
    const ticks = Math.max(2, ...lines.flatMap((line) => line.match(/`+/g) || []).map((run) => run.length));
    const fence = "`".repeat(ticks + 1);
    return lines.length ? [fence + "diff", ...lines, fence] : [];
  }

  /* A place for an issue or a message. */
  function textToCopy(hazard) {
    const sides = hazard.sides.map((side) => "- " + roleOf(hazard, side) + ": " + codeText(side.call) +
      (side.place ? " at " + codeText(side.place) : ""));
    return ["**" + hazard.code + " " + hazard.name + "**, " + hazard.certainty + ", " + hazard.count, "",
      codeText(hazard.mistake.join("")), "", ...sides, "", "What to do: " + hazard.advice + ".",
      ...sketchText(hazard), "", codeText(hazard.key)].join("\n");
  }

  /* Where the browser gives no clipboard, from a field that is selected. */
  async function copyText(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (error) {
      const field = el("textarea", { class: "copied", "aria-label": "Text to copy" });
      field.value = text;
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      return done;
    }
  }

  function copyButton(hazard) {
    const button = el("button", { type: "button", class: "copy", title: "This place as Markdown, for an issue" }, "Copy");
    button.addEventListener("click", async () => {
      button.textContent = await copyText(textToCopy(hazard)) ? "Copied" : "Not copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    return button;
  }

  function todoOf(hazard) {
    const sketch = hazard.hint ? [sketchOf(hazard),
      el("p", { class: "soft" }, baseName(hazard.hint_file) + ". " + hazard.hint_note)] : null;
    return el("div", { class: "todo" },
      el("p", {}, el("strong", {}, "What to do: "), hazard.advice + "."), sketch);
  }

  function sideOf(hazard, side) {
    return el("div", { class: "side " + side.role },
      el("h4", {}, el("span", { class: "role" }, roleOf(hazard, side)), " ", el("code", {}, side.call)),
      side.place ? el("p", { class: "place" }, side.place) : null,
      side.source !== undefined ? sourceOf(side) : null,
      side.library ? el("p", { class: "place soft" }, "in ", side.library) : null);
  }

  /* Where it is known when the copy ran: to scale. The times stand below in words, where there is room for them. */
  function timelineOf(hazard) {
    const issue = 0, event = hazard.event_ns, { start_ns: start, end_ns: end } = hazard;
    const last = Math.max(event, end) || 1, late = end - event;
    const percent = (ns) => Math.max(0, Math.min(100, 100 * ns / last)) + "%";
    const mark = (kind, from, to) => {
      const element = el("span", { class: kind });
      element.style.left = percent(from);
      if (to !== undefined)
        element.style.width = percent(to - from);
      return element;
    };
    const [eventSide, operation] = hazard.sides;
    const row = (kind, words, at) => el("li", { class: kind },
      el("b", {}, at), " ", words);
    return el("div", { class: "timeline" },
      el("div", { class: "lanes", "aria-hidden": "true" },
        el("div", { class: "lane" }, el("i", {}, "host"), el("div", {}, mark("dot issue", issue), mark("dot touch", event))),
        el("div", { class: "lane" }, el("i", {}, "stream"), el("div", {}, mark("wait", issue, start),
          event < start ? mark("wait late", event, start) : null, mark("bar", start, end),
          late > 0 ? mark("bar late", Math.max(event, start), end) : null, mark("rule", event)))),
      el("ol", {}, [
        [issue, "issue", [el("code", {}, operation.call), " was issued"]],
        [event, "touch", [el("code", {}, eventSide.call), late > 0 ?
          el("strong", {}, ", " + duration(late) + " too early") : ", when it was over"]],
        [start, "bar", ["the device began"]],
        [end, "end", ["complete, after " + duration(end - start) + " on the device"]],
      ].sort(([one], [other]) => one - other).map(([at, kind, words]) =>
        row(kind, words, at ? "+" + duration(at) : "0"))));
  }

  const KINDS = ["runtime", "library", "user"];
  const stackOf = (stack) => stack.length ? el("ol", { class: "stack", start: "0" }, stack.map((id) => {
    const [kind, words] = report.frames[id];
    return el("li", { class: KINDS[kind] }, words);
  })) : el("p", { class: "soft" }, "No stack is known.");

  let allOpen = false; /* of cards that are not built yet as well */

  function detailsOf(hazard) {
    const details = el("details", {}, el("summary", {}, "Details: stacks, threads, addresses"));
    const fillIn = () => {
      const rows = hazard.sides.map((side) => el("section", {},
        el("h4", {}, roleOf(hazard, side)), el("p", {}, side.words), stackOf(side.stack)));
      const origins = hazard.origins.map((origin) => el("section", {},
        el("h4", {}, "Origin"), el("p", {}, origin.words), stackOf(origin.stack)));
      const times = hazard.timing ? el("p", {}, hazard.timing[0].toUpperCase() + hazard.timing.slice(1) + ".") :
        hazard.event_ns !== undefined ? el("p", {}, "The event came " + duration(hazard.event_ns) +
          " after the call. With timeline=1 it is known when the operation was complete.") : null;
      const more = el("p", { class: "soft" }, "More on this mistake, with a program that makes it: ",
        el("code", {}, "safecopy explain " + hazard.code));
      details.append(el("div", { class: "more" }, times, rows, origins, more));
    };
    if (allOpen)
      fillIn();
    else
      details.addEventListener("toggle", fillIn, { once: true });
    details.open = allOpen;
    return details;
  }

  function buildCard(card) {
    const hazard = hazards[card.dataset.index];
    card.append(
      factsOf(hazard), el("h3", {}, sentence(hazard)),
      el("p", { class: isHealed(hazard) ? "outcome healed" : "outcome" }, hazard.outcome,
        hazard.grown ? ". It is " + hazard.grown : null),
      todoOf(hazard),
      el("div", { class: "sides" }, hazard.sides.map((side) => sideOf(hazard, side))));
    card.append(...(hazard.end_ns === undefined ? [] : [timelineOf(hazard)]), detailsOf(hazard));
  }

  const cards = hazards.map((hazard, index) => later(el("article", {
    class: "card pending " + hazard.certainty + (hazard.suppression || hazard.advisory ? " excused" : ""),
    id: hazard.key, tabindex: "-1", "data-index": index }), buildCard));

  /* ---- the overview ---- */

  const sum = (list, of) => list.reduce((total, one) => total + (of(one) || 0), 0);

  function putTotals() {
    const all = sum(report.codes, (code) => code.places), observed = sum(report.codes, (code) => code.observed);
    const fresh = hazards.filter((hazard) => hazard.news === "new").length;
    const suppressed = hazards.filter((hazard) => hazard.suppression).length;
    const tiles = [
      [number(all), "place" + (all === 1 ? "" : "s"), report.open_count ? "bad" : "good"],
      [number(observed), "observed", ""], [number(all - observed), "latent", ""],
      [number(sum(report.codes, (code) => code.times)), "times in all", ""],
      hazards.some((hazard) => hazard.news) ? [number(fresh), "new since the baseline", fresh ? "bad" : "good"] : null,
      suppressed && all === hazards.length ? [number(suppressed), "suppressed", ""] : null,
      report.runs.length === report.run_count ?
        [number(sum(report.runs, (run) => run.operations)), "operations", ""] : null,
      [number(report.run_count), "run" + (report.run_count === 1 ? "" : "s"), ""],
    ];
    byId("totals").append(...tiles.filter(Boolean).map(([value, words, kind]) =>
      el("div", { class: kind }, el("dt", {}, words), el("dd", {}, value))));
  }

  const nameOf = (code) => (hazards.find((hazard) => hazard.code === code) || { name: "" }).name;

  function putCodes() {
    const most = Math.max(...report.codes.map((code) => code.places));
    const rows = report.codes.sort((a, b) => b.places - a.places).map((code) => {
      const bar = el("span", { class: "bars" }, el("i", { class: "observed" }), el("i", { class: "latent" }));
      bar.children[0].style.width = 100 * code.observed / most + "%";
      bar.children[1].style.width = 100 * (code.places - code.observed) / most + "%";
      const button = el("button", { type: "button", title: "Show these places" },
        el("span", { class: "code" }, code.code), el("span", { class: "name" }, nameOf(code.code)), bar,
        el("span", { class: "sum" }, plural(code.places, "place") + ", " + plural(code.times, "time")));
      button.addEventListener("click", () => {
        form.code.value = code.code;
        apply();
        byId("places").scrollIntoView();
      });
      return el("li", {}, button);
    });
    byId("codes").hidden = !rows.length;
    const legend = ["observed", "latent"].map((kind) =>
      el("span", {}, el("i", { class: kind }), " " + kind + ": " + MEANINGS[kind] + ". "));
    byId("codes").append(el("ul", {}, rows), el("p", { class: "legend soft" }, legend));
  }

  function dateOf(seconds) {
    if (seconds === undefined)
      return "not known";
    const date = new Date(1000 * seconds), two = (value) => String(value).padStart(2, "0");
    return el("time", { datetime: date.toISOString(), title: "when the report was written to last" },
      date.getFullYear() + "-" + two(date.getMonth() + 1) + "-" + two(date.getDate()) + " " +
      two(date.getHours()) + ":" + two(date.getMinutes()));
  }

  function devicesOf(run) {
    const counts = new Map();
    for (const device of run.devices)
      counts.set(device, (counts.get(device) || 0) + 1);
    const words = Array.from(counts, ([device, count]) => count > 1 ? count + " \u00d7 " + device : device);
    return words.join(", ") + (run.driver ? (words.length ? " (CUDA " + run.driver + ")" : "CUDA " + run.driver) : "") || "not known";
  }

  function rowOf(run) {
    const cell = (label, kind, ...children) => el("td", { "data-label": label, class: kind }, ...children);
    const notes = run.notes.length ? el("details", { open: run.doubt || !run.ended },
      el("summary", {}, plural(run.notes.length, "note")),
      el("ul", {}, run.notes.map((note) => el("li", {}, note)))) : null;
    return el("tr", { class: run.doubt || !run.ended ? "doubt" : "" },
      el("th", { scope: "row" }, run.rank !== undefined ? badge("", "rank " + run.rank) : null,
        el("span", { class: "command" }, run.title), el("span", { class: "file soft" }, run.file), notes),
      cell("Written", "", dateOf(run.written)),
      cell("Version", "", run.version || "not known"),
      cell("Device", "device", devicesOf(run)),
      cell("Options", "options", !run.options ? "not known" : run.options.length ? run.options.map((option) =>
        [el("code", {}, option), " "]) : el("span", { class: "soft" }, "as usual")),
      cell("Operations", "count", run.operations === undefined ? "not known" : number(run.operations)),
      cell("Hazards", "count", run.hazards === undefined ? "not known" : number(run.hazards)),
      cell("Ended", "count", !run.ended ? "did not" : run.status === undefined ? "" : "status " + run.status));
  }

  function putRuns() {
    const heads = ["Run", "Written", "Version", "Device", "Options", "Operations", "Hazards", "Ended"];
    const body = el("tbody", {}, report.runs.map(rowOf));
    byId("runs").append(el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) =>
      el("th", { scope: "col" }, head)))), body));
    const left = report.run_count - report.runs.length;
    if (left > 0)
      byId("runs").append(el("p", { class: "soft" }, plural(left, "more run") + (left === 1 ? " is" : " are") + " left out here."));
  }

  function putBaseline() {
    byId("baseline").hidden = !report.baseline.length;
    byId("baseline").append(el("ul", {}, report.baseline.map((words) => el("li", {}, words))));
  }

  function putParts() {
    const parts = [["overview", "Overview"], ["places", "Places"], ["memory", "Memory"]];
    byId("parts").append(...parts.filter(([id]) => byId(id) && !byId(id).hidden).map(([id, words]) =>
      el("a", { href: "#" + id }, words)));
    byId("parts").hidden = false;
  }

  /* ---- the list of places ---- */

  let groups;
  const ROW_HEIGHT = 72, HEAD_HEIGHT = 40;

  function rowInList(hazard) {
    return el("a", { class: "row " + hazard.certainty, href: "#" + hazard.key, "data-key": hazard.key },
      el("span", { class: "line" }, hazard.line === undefined ? "" : ":" + hazard.line),
      el("span", { class: "what" }, hazard.mistake.join("")),
      el("span", { class: "code" }, hazard.code),
      el("span", { class: "times" }, "\u00d7" + number(hazard.times)));
  }

  function groupInList(members) {
    const file = members[0].file, folder = folderOf(file);
    return el("details", { open: true },
      el("summary", { title: file }, el("span", { class: "path" },
        folder ? el("span", { class: "soft" }, folder) : null, el("b", {}, baseName(file))),
        el("span", { class: "sum" }, number(members.length))),
      inBoxes(members, 50, "div", () => ROW_HEIGHT, rowInList));
  }

  function putList(order) {
    groups = new Map();
    for (const hazard of order)
      groups.has(hazard.file) ? groups.get(hazard.file).push(hazard) : groups.set(hazard.file, [hazard]);
    byId("list").replaceChildren(...inBoxes(Array.from(groups.values()), 20, "div",
      (members) => HEAD_HEIGHT + ROW_HEIGHT * members.length, groupInList));
  }

  /* ---- which are shown ---- */

  const form = byId("filters");
  let order = hazards, current = null;

  const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  const ORDERS = {
    weight: (a, b) => a.index - b.index,
    times: (a, b) => b.times - a.times || a.index - b.index,
    file: (a, b) => compare(a.file, b.file) || (a.line || 0) - (b.line || 0) || a.index - b.index,
    code: (a, b) => compare(a.code, b.code) || a.index - b.index,
  };

  function textOf(hazard) {
    hazard.text = hazard.text || [hazard.code, hazard.name, hazard.label, hazard.file, ...hazard.mistake,
      ...hazard.sides.flatMap((side) => [side.call, side.place, ...side.stack.map((id) => report.frames[id][1])]),
    ].join("\n").toLowerCase();
    return hazard.text;
  }

  function fits(hazard, words) {
    return (!form.code.value || hazard.code === form.code.value) &&
      (!form.state.value || [hazard.state, hazard.certainty].includes(form.state.value)) &&
      words.every((word) => textOf(hazard).includes(word));
  }

  function nothingFits() {
    const all = el("button", { type: "button" }, "Show all");
    all.addEventListener("click", resetFilters);
    return el("p", { class: "none soft" }, "No place fits what is searched for and chosen. ", all);
  }

  function apply() {
    const words = form.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    order = hazards.filter((hazard) => fits(hazard, words)).sort(ORDERS[form.sort.value]);
    putList(order);
    byId("cards").replaceChildren(...order.length ? order.map((hazard) => cards[hazard.index]) : [nothingFits()]);
    const left = report.place_count - report.shown;
    byId("shown").textContent = number(order.length) + " of " + plural(hazards.length, "place") +
      (left > 0 ? "; " + number(left) + " more are left out of this page (--filter takes others)" : "");
    if (current && !order.includes(current))
      current = null;
  }

  function fillSelects() {
    const put = (select, values) => select.append(...values.map((value) => el("option", {}, value)));
    put(form.code, Array.from(new Set(hazards.map((hazard) => hazard.code))).sort());
    put(form.state, ["observed", "latent", "new", "unchanged", "suppressed", "advisory"].filter((state) =>
      hazards.some((hazard) => [hazard.state, hazard.certainty].includes(state))));
  }

  function resetFilters() {
    form.reset();
    apply();
  }

  /* ---- going to a place ---- */

  function mark(hazard) {
    for (const old of document.querySelectorAll(".current"))
      old.classList.remove("current");
    current = hazard;
    cards[hazard.index].classList.add("current");
    markInList(hazard);
  }

  function markInList(hazard) {
    const list = byId("list");
    build(boxOf.get(groups.get(hazard.file)));
    build(boxOf.get(hazard));
    const row = list.querySelector('[data-key="' + CSS.escape(hazard.key) + '"]');
    row.classList.add("current");
    const box = row.getBoundingClientRect(), frame = list.getBoundingClientRect();
    if (box.top < frame.top || box.bottom > frame.bottom)
      list.scrollTop += box.top - frame.top - frame.height / 3;
  }

  function show(hazard) {
    if (!order.includes(hazard))
      resetFilters();
    const at = order.indexOf(hazard);
    for (const near of order.slice(Math.max(0, at - 2), at + 2))
      build(cards[near.index]);
    mark(hazard);
    cards[hazard.index].scrollIntoView();
    cards[hazard.index].focus({ preventScroll: true });
  }

  /* Without a current place, to the first one that is seen. */
  function goTo(step) {
    const at = current ? order.indexOf(current) + step :
      order.findIndex((hazard) => cards[hazard.index].getBoundingClientRect().bottom > 100);
    if (at < 0 || at >= order.length)
      return;
    history.replaceState(null, "", "#" + order[at].key);
    show(order[at]);
  }

  function follow() {
    const hazard = byKey.get(decodeURIComponent(location.hash.slice(1)));
    if (hazard)
      show(hazard);
  }

  /* ---- keys ---- */

  const toPart = (id) => () => byId(id) && byId(id).scrollIntoView();
  const toggleDetails = () => {
    const details = current && cards[current.index].querySelector("details");
    if (details)
      details.open = !details.open;
  };
  function toggleAll() {
    const built = cards.map((card) => card.querySelector("details")).filter(Boolean);
    allOpen = built.some((details) => !details.open);
    built.forEach((details) => { details.open = allOpen; });
  }
  const KEYS = {
    D: toggleAll, j: () => goTo(1), k: () => goTo(-1), d: toggleDetails, o: toPart("overview"), m: toPart("memory"),
    "/": () => { toPart("places")(); form.search.focus(); }, "?": () => byId("keys").showModal(),
  };

  function onKey(event) {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape" && event.target === form.search) {
      form.search.blur();
      resetFilters();
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || byId("keys").open || !KEYS[event.key])
      return;
    event.preventDefault();
    KEYS[event.key]();
  }

  /* ---- paper ---- */

  const PRINTED = 100;

  function beforePrint() {
    order.slice(0, PRINTED).forEach((hazard) => build(cards[hazard.index]));
    document.body.dataset.more = order.length > PRINTED ?
      plural(order.length - PRINTED, "more place") + " not printed: filter them first." : "";
  }

  /* ---- flame graphs ---- */

  const CHARACTER_WIDTH = 7, PADDING = 3;

  function boxesOf(figure) {
    return Array.from(figure.querySelectorAll("g"), (element) => {
      const title = element.querySelector("title").textContent, end = title.lastIndexOf(": ");
      const rect = element.querySelector("rect"), at = (name) => Number(rect.getAttribute(name));
      return { element, rect, x: at("x"), y: at("y"), width: at("width") + 1,
               text: title.slice(0, end) + ", " + title.slice(end + 2) };
    });
  }

  function place(box, x, width, kind) {
    box.element.setAttribute("class", kind);
    box.rect.setAttribute("x", x);
    box.rect.setAttribute("width", Math.max(1, width - 1));
    let label = box.element.querySelector("text");
    if (!label) {
      label = document.createElementNS(box.rect.namespaceURI, "text");
      label.setAttribute("y", box.y + 13);
      box.element.append(label);
    }
    label.setAttribute("x", x + PADDING);
    label.textContent = width < 3 * CHARACTER_WIDTH ? "" :
      box.text.slice(0, Math.floor((width - 2 * PADDING) / CHARACTER_WIDTH));
  }

  /* One box and what is below it, as wide as the whole; what called it stays above. */
  function zoom(boxes, whole, box) {
    const inside = (one, other) => one.x >= other.x - .6 && one.x + one.width <= other.x + other.width + .6;
    for (const one of boxes)
      if (one.y >= box.y && inside(one, box))
        place(one, (one.x - box.x) * whole / box.width, one.width * whole / box.width, "");
      else if (one.y < box.y && inside(box, one))
        place(one, 0, whole, "above");
      else
        place(one, one.x, 0, "away");
  }

  /* As wide as there is room, so that its words are no smaller on a phone. */
  function makeZoomable(figure) {
    const svg = figure.querySelector("svg"), { width, height } = svg.viewBox.baseVal, boxes = boxesOf(figure);
    const back = el("button", { type: "button", class: "copy", hidden: true }, "The whole");
    const all = { x: 0, y: 0, width };
    let shown = all, drawn = width;
    const draw = (box) => {
      shown = box;
      drawn = Math.min(width, figure.clientWidth || drawn);
      svg.setAttribute("viewBox", "0 0 " + drawn + " " + height);
      zoom(boxes, drawn, box);
      back.hidden = box === all;
    };
    back.addEventListener("click", () => draw(all));
    figure.querySelector("figcaption").append(back);
    for (const box of boxes)
      box.element.addEventListener("click", () => draw(box));
    const fit = () => {
      if (Math.min(width, figure.clientWidth || drawn) !== drawn)
        draw(shown);
    };
    window.addEventListener("resize", fit);
    fit();
  }

  /* ---- the whole ---- */

  /* What is larger than its box is scrolled, by keys as well. */
  function noteLarge() {
    for (const box of document.querySelectorAll("figure, .wide, #runs"))
      if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight)
        box.tabIndex = 0;
      else
        box.removeAttribute("tabindex");
  }

  let waiting = 0;
  form.addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, event.target === form.search && hazards.length > 500 ? 150 : 0);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("show-keys").addEventListener("click", KEYS["?"]);
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", follow);
  window.addEventListener("beforeprint", beforePrint);
  window.addEventListener("resize", noteLarge);

  byId("overview").hidden = false;
  byId("places").hidden = !hazards.length;
  putTotals();
  putCodes();
  putRuns();
  putBaseline();
  putParts();
  fillSelects();
  apply();
  document.querySelectorAll(".flames").forEach(makeZoomable);
  noteLarge();
  follow();
})();
