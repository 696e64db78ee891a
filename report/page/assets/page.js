"use strict";
(function () {
  // Before anything is drawn: what is folded, the language and the theme, so that nothing moves once it is seen.
  // The language is that of the browser, where the page has it, until a reader chooses.
  var root = document.documentElement, asked = location.hash.slice(1).split("&"), own = (navigator.language || "").slice(0, 2);
  root.classList.add("js");
  if (own === "en" || own === "zh") { root.lang = root.dataset.lang = own; }
  // A live page that reloads stays hidden until its scroll position is restored: a browser may paint the part that has arrived so far.
  var place = history.state && history.state.place;
  if (place) { history.scrollRestoration = "manual"; root.classList.add("again"); setTimeout(function () { root.classList.remove("again"); }, 2000); }
  asked.forEach(function (part) {
    if (part === "lang=en" || part === "lang=zh") { root.lang = root.dataset.lang = part.slice(5); }
    if (part === "theme=dark" || part === "theme=light") { root.dataset.theme = part.slice(6); }
  });
  document.addEventListener("DOMContentLoaded", function () {
  var data = JSON.parse(document.getElementById("data").textContent);
  var all = function (s, e) { return Array.prototype.slice.call((e || document).querySelectorAll(s)); };

  // The state of the page is in the address: after the #, as name=value.
  var state = {};
  function read() {
    state = {};
    location.hash.slice(1).split("&").forEach(function (part) {
      var i = part.indexOf("=");
      if (i > 0) { try { state[part.slice(0, i)] = decodeURIComponent(part.slice(i + 1)); } catch (e) { /* not ours */ } }
    });
  }
  function keep(name, value) {
    if (value === "" || value === null || value === undefined) { delete state[name]; } else { state[name] = value; }
    var text = Object.keys(state).sort().map(function (k) { return k + "=" + encodeURIComponent(state[k]); }).join("&");
    history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
  }

  // Texts of an element in the language that is shown.
  function text(e) {
    var out = "";
    e.childNodes.forEach(function (n) {
      if (n.nodeType === 3) { out += n.nodeValue; }
      if (n.nodeType !== 1 || n.tagName === "svg" || n.tagName === "SVG") { return; }
      if (n.classList.contains("en") || n.classList.contains("zh")) {
        if (!n.classList.contains(root.dataset.lang)) { return; }
      }
      out += text(n);
    });
    return out.trim();
  }
  function language(l) {
    root.lang = root.dataset.lang = l;
    all("option[data-en]").forEach(function (o) { o.textContent = o.dataset[l]; });
    hide(true);
  }
  function theme(t) {
    if (t) { root.dataset.theme = t; } else { delete root.dataset.theme; }
  }

  // Copying a table.
  function cells(table) {
    return all("tr", table).filter(function (r) { return !r.hidden; }).map(function (r) {
      return all("th,td", r).map(text);
    });
  }
  function markdown(rows) {
    var line = function (r) { return "| " + r.map(function (c) { return c.replace(/\\/g, "\\\\").replace(/\|/g, "\\|").replace(/</g, "&lt;"); }).join(" | ") + " |"; };
    return [line(rows[0]), "|" + rows[0].map(function () { return " --- |"; }).join("")].concat(rows.slice(1).map(line)).join("\n") + "\n";
  }
  function csv(rows) {
    return rows.map(function (r) {
      return r.map(function (c) {
        if (/^[^0-9,]*\d{1,3}(,\d{3})+(\.\d+)?[^0-9,]*$/.test(c)) { c = c.replace(/,/g, ""); } // a number for programs
        return /[",\n]/.test(c) || /^[=+\-@]/.test(c) && isNaN(c) ? '"' + c.replace(/"/g, '""') + '"' : c;
      }).join(",");
    }).join("\r\n") + "\r\n";
  }
  function copy(what, button) {
    window.copied = what; // the page's tests read it
    function done() {
      button.classList.add("done");
      var before = button.innerHTML;
      button.textContent = root.dataset.lang === "zh" ? "已复制" : "Copied";
      setTimeout(function () { button.innerHTML = before; }, 1500);
    }
    function old() {
      var area = document.createElement("textarea");
      area.value = what;
      document.body.appendChild(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      done();
    }
    if (navigator.clipboard && window.isSecureContext) { navigator.clipboard.writeText(what).then(done, old); } else { old(); }
  }

  // Tables that are made when they are opened.
  function build(details) {
    var from = data[details.dataset.name], name = details.dataset.name;
    if (!from || details.querySelector("table")) { return; }
    function both(e, pair) {
      if (pair[0] === pair[1]) { e.textContent = pair[0]; return; }
      pair.forEach(function (s, i) {
        var span = document.createElement("span");
        span.className = span.lang = i ? "zh" : "en";
        span.textContent = s;
        e.appendChild(span);
      });
    }
    var box = document.createElement("div"), table = document.createElement("table"), head = table.createTHead().insertRow();
    box.className = "scroll";
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", text(details.querySelector("summary")));
    from.cols.forEach(function (c) {
      var th = document.createElement("th");
      th.scope = "col";
      both(th, c);
      head.appendChild(th);
    });
    var body = table.createTBody();
    from.rows.forEach(function (r) {
      var row = body.insertRow();
      r.forEach(function (v) { row.insertCell().textContent = v === null ? "n/a" : v; });
    });
    table.id = name + "-l";
    box.appendChild(table);
    details.appendChild(box);
    var tools = document.createElement("p");
    tools.className = "tools";
    all(".copy[data-as]").slice(0, 2).forEach(function (b) { tools.appendChild(b.cloneNode(true)); });
    details.appendChild(tools);
  }

  // Reading a drawing: the nearest point, its row of the table in a small window.
  var tip = document.getElementById("tip"), pinned = null, at = null;
  function hide(force) {
    if (pinned && !force) { return; }
    pinned = at = null;
    tip.hidden = true;
    tip.classList.remove("pinned");
    all(".cross").forEach(function (c) { c.setAttribute("d", ""); });
  }
  function visible(p) { var g = p.closest(".sr"); return !g || !g.hasAttribute("hidden"); }
  // points are those of a drawing, each with its place, its row and how to read it.
  function points(plot) {
    var svg = plot.querySelector("svg"), name = plot.closest("figure").id, list = [];
    all(".pt[data-r]", svg).filter(visible).forEach(function (p) { list.push({ x: +p.dataset.x, y: +p.dataset.y, row: +p.dataset.r, table: name }); });
    var many = data[name + "-points"];
    if (many && many.spots) { many.spots.forEach(function (s, i) { list.push({ x: s[0], y: s[1], row: i + 1, data: many }); }); }
    return list.sort(function (a, b) { return a.x - b.x || a.y - b.y; });
  }
  function show(plot, p) {
    var svg = plot.querySelector("svg"), box = svg.viewBox.baseVal, heads, values;
    if (p.data) {
      heads = p.data.cols.map(function (c) { return c[root.dataset.lang === "zh" ? 1 : 0]; });
      values = p.data.rows[p.row - 1].map(function (v) { return v === null ? "n/a" : String(v); });
    } else {
      var table = document.getElementById("t-" + p.table);
      heads = all("thead th", table).map(text);
      values = all("td", all("tbody tr", table)[p.row - 1]).map(text);
    }
    tip.textContent = "";
    var title = document.createElement("b"), list = document.createElement("dl");
    title.textContent = (p.data ? heads[0] + " " : "") + values[0];
    heads.slice(1).forEach(function (h, i) {
      if (values[i + 1] === "" || values[i + 1] === "n/a") { return; }
      var dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = h;
      dd.textContent = values[i + 1];
      list.appendChild(dt);
      list.appendChild(dd);
    });
    tip.appendChild(title);
    tip.appendChild(list);
    all(".cross").forEach(function (c) { c.setAttribute("d", ""); });
    svg.querySelector(".cross").setAttribute("d", "M" + p.x + " 0V" + (box.height - 40) + "M" + svg.dataset.l + " " + p.y + "H" + svg.dataset.r);
    tip.hidden = false;
    var r = svg.getBoundingClientRect(), scale = r.width / box.width, left = r.left + p.x * scale + 14;
    if (left + tip.offsetWidth > root.clientWidth - 4) { left = r.left + p.x * scale - tip.offsetWidth - 14; }
    tip.style.left = Math.max(4, left) + window.scrollX + "px";
    tip.style.top = Math.max(4, r.top + p.y * scale - tip.offsetHeight / 2) + window.scrollY + "px";
    at = { plot: plot, p: p };
  }
  function nearest(plot, event) {
    var svg = plot.querySelector("svg"), r = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / r.width;
    var x = (event.clientX - r.left) * scale, y = (event.clientY - r.top) * scale, best = null, least = 60 * 60;
    points(plot).forEach(function (p) {
      var d = (p.x - x) * (p.x - x) + (p.y - y) * (p.y - y) / 4;
      if (d < least) { least = d; best = p; }
    });
    return best;
  }
  function pin() {
    pinned = at;
    tip.classList.toggle("pinned", !!pinned);
  }
  function step(plot, by) {
    var list = points(plot), i = -1;
    if (!list.length) { return; }
    if (at && at.plot === plot) { list.forEach(function (p, k) { if (p.x === at.p.x && p.y === at.p.y && p.row === at.p.row) { i = k; } }); }
    i = by === "first" ? 0 : by === "last" ? list.length - 1 : Math.min(list.length - 1, Math.max(0, i + by));
    show(plot, list[i]);
  }

  document.addEventListener("pointermove", function (e) {
    var plot = e.target.closest && e.target.closest(".plot");
    if (pinned) { return; }
    var p = plot && nearest(plot, e);
    if (p) { show(plot, p); } else { hide(); }
  });
  document.addEventListener("click", function (e) {
    var plot = e.target.closest(".plot"), b = e.target.closest("button");
    if (plot) {
      var p = nearest(plot, e);
      var same = pinned && p && pinned.p.row === p.row && pinned.plot === plot;
      hide(true);
      if (p && !same) { show(plot, p); pin(); }
      return;
    }
    if (!b) { return; }
    if (b.classList.contains("axis")) { axis(b.closest("figure"), b.dataset.v); keep("axis-" + b.closest("figure").id, b.dataset.v); }
    if (b.classList.contains("switch")) { toggle(b.closest("figure"), b.dataset.k, b.getAttribute("aria-pressed") === "true"); }
    if (b.classList.contains("copy")) { var rows = cells(b.closest(".numbers").querySelector("table")); copy(b.dataset.as === "md" ? markdown(rows) : csv(rows), b); }
    if (b.classList.contains("copycode")) { copy(b.closest(".tools").previousElementSibling.textContent, b); }
    if (b.classList.contains("behind")) { behind(b); }
    if (b.id === "lang") { language(root.dataset.lang === "zh" ? "en" : "zh"); keep("lang", root.dataset.lang); }
  });
  document.addEventListener("keydown", function (e) {
    var plot = e.target.closest && e.target.closest(".plot");
    if (e.key === "Escape") { hide(true); return; }
    if (!plot) { return; }
    var by = { ArrowRight: 1, ArrowLeft: -1, Home: "first", End: "last" }[e.key];
    if (by !== undefined) { pinned = null; step(plot, by); e.preventDefault(); }
    if (e.key === "Enter" || e.key === " ") { if (pinned) { hide(true); } else { pin(); } e.preventDefault(); }
  });
  document.addEventListener("focusout", function (e) { if (e.target.closest && e.target.closest(".plot")) { hide(); } });

  function axis(figure, v) {
    var plots = all(".plot", figure);
    if (!plots.some(function (p) { return p.dataset.v === v; })) { return; }
    plots.forEach(function (p) { p.hidden = p.dataset.v !== v; });
    all("button.axis", figure).forEach(function (b) { b.setAttribute("aria-pressed", String(b.dataset.v === v)); });
    hide(true);
  }
  function toggle(figure, key, off) {
    var button = all("button.switch", figure).filter(function (b) { return b.dataset.k === key; })[0];
    if (!button) { return; }
    button.setAttribute("aria-pressed", String(!off));
    all("svg [data-k]", figure).forEach(function (e) { if (e.dataset.k === key) { e.toggleAttribute("hidden", off); } });
    hide(true);
    var gone = all("button.switch[aria-pressed=false]", figure).map(function (b) { return b.dataset.k; });
    keep("hide-" + figure.id, gone.join("."));
  }
  function behind(b) {
    var box = b.closest(".slowest"), metric = b.dataset.m, from = +b.dataset.at, body = box.querySelector("tbody"), n = 0;
    all("button.behind", box).forEach(function (o) { o.setAttribute("aria-pressed", String(o === b)); });
    all("tr", body).sort(function (x, y) { return +y.dataset[metric] - +x.dataset[metric]; }).forEach(function (r) {
      r.hidden = +r.dataset[metric] < from * (1 - 1e-3); // the attribute has four digits
      if (!r.hidden) { n++; }
      body.appendChild(r);
    });
    box.querySelector(".none").hidden = n > 0;
  }
  function stage(id) {
    var panels = all(".panel"), choice = document.getElementById("stage");
    if (!choice) { return; }
    if (!panels.some(function (p) { return p.id === id; })) { id = panels.length ? panels[0].id : ""; }
    panels.forEach(function (p) { p.classList.toggle("on", p.id === id); });
    choice.value = id;
    hide(true);
  }

  // An index: filters, and which runs are drawn.
  function picks() { return all("input.pick"); }
  function pick() {
    picks().forEach(function (p) {
      all("svg [data-k]").forEach(function (e) { if (e.dataset.k === p.dataset.k) { e.toggleAttribute("hidden", !p.checked || p.closest("tr").hidden); } });
      all("button.switch").forEach(function (b) { if (b.dataset.k === p.dataset.k) { b.setAttribute("aria-pressed", String(p.checked && !p.closest("tr").hidden)); } });
    });
    hide(true);
  }
  function filter() {
    var wanted = all("select.filter").filter(function (s) { return s.value !== "*"; });
    all("#index tbody tr").forEach(function (r) { r.hidden = !wanted.every(function (s) { return r.dataset[s.dataset.key] === s.value; }); });
    pick();
  }
  document.addEventListener("change", function (e) {
    if (e.target.classList.contains("pick")) {
      pick();
      var off = picks().filter(function (p) { return !p.checked; }).map(function (p) { return p.dataset.k; });
      keep("off", off.join("."));
    }
    if (e.target.classList.contains("filter")) { filter(); keep(e.target.id, e.target.value === "*" ? "" : e.target.value); }
  });

  // What is folded is read in print as well.
  var unfolded = [];
  window.addEventListener("beforeprint", function () {
    unfolded = unfolded.concat(all("details.long:not([open]),details.more:not([open])"));
    unfolded.forEach(function (d) { d.open = true; });
  });
  window.addEventListener("afterprint", function () { unfolded.splice(0).forEach(function (d) { d.open = false; }); });

  all("details.lazy").forEach(function (d) { d.addEventListener("toggle", function () { build(d); }); });
  var choice = document.getElementById("stage");
  if (choice) { choice.addEventListener("change", function () { stage(choice.value); keep("stage", choice.value); }); }

  function restore(event) {
    var before = location.hash;
    if (event && before && before.indexOf("=") < 0) { return; } // an address within the page
    read();
    language(state.lang === "zh" || state.lang === "en" ? state.lang : root.dataset.lang);
    theme(state.theme === "dark" || state.theme === "light" ? state.theme : "");
    Object.keys(state).forEach(function (k) {
      var figure = document.getElementById(k.slice(5));
      if (!figure || figure.tagName !== "FIGURE") { return; }
      if (k.indexOf("axis-") === 0) { axis(figure, state[k]); }
      if (k.indexOf("hide-") === 0) { state[k].split(".").forEach(function (key) { toggle(figure, key, true); }); }
    });
    all("select.filter").forEach(function (s) { s.value = state[s.id] || "*"; if (s.selectedIndex < 0) { s.value = "*"; } });
    if (picks().length) {
      var off = (state.off || "").split(".");
      picks().forEach(function (p) { p.checked = off.indexOf(p.dataset.k) < 0; });
      filter();
    }
    if (choice) { stage(state.stage || choice.value); }
  }
  if (choice) { stage(choice.dataset.first || choice.value); }
  restore();
  // The page of a run that goes on loads itself again when a stage has ended. What was chosen is in the address, and the place is kept by what stands
  // there, since what stands above may have grown.
  var live = root.dataset.live, stood = place && document.getElementById(place.id);
  if (stood) { window.scrollBy(0, stood.getBoundingClientRect().top - place.top); }
  if (place) {
    history.replaceState(null, "");
    root.classList.remove("again");
  }
  function reload() {
    var seen = window.scrollY > 0 && all("main [id]").filter(function (e) { var r = e.getBoundingClientRect(); return r.height > 0 && r.top >= 0; })[0];
    if (seen) { history.replaceState({ place: { id: seen.id, top: seen.getBoundingClientRect().top } }, ""); }
    location.reload();
  }
  if (live && location.protocol.indexOf("http") === 0) {
    setInterval(function () {
      fetch("", { method: "HEAD" }).then(function (r) { if (r.ok && r.headers.get("ETag") !== '"' + live + '"') { reload(); } }, function () { });
    }, 1000);
  }
  window.addEventListener("hashchange", restore);
  });
})();
